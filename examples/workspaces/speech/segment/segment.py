import os

print("learning rate", float(os.environ["LR"]), "epochs", int(os.environ["EPOCHS"]), "data", os.environ["TAU_DATA_DIR"])
