print('dedup')
