import os

print(os.environ['TAU_RESUME_FROM'])
