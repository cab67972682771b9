[2J<html>502 Bad Gateway</html>
1, two, three
GPU: ?
