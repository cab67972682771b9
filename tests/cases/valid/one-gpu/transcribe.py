import sys

print("transcribing", sys.argv[1:])
