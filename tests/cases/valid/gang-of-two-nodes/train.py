import ocean.grid

print(ocean.grid.CELLS)
