print('probe')
