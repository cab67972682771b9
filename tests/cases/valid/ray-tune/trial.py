print('trial')
