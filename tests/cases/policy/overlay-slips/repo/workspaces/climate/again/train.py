from grid import load

print(load())
