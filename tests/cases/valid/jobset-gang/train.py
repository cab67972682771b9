print('ice')
