import argparse
import os

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--crop", type=int, default=256)
crop = parser.parse_args().crop

dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
rank, size = dist.get_rank(), dist.get_world_size()
total = torch.tensor([float(rank)], device=f"cuda:{os.environ['LOCAL_RANK']}" if torch.cuda.is_available() else "cpu")
dist.all_reduce(total)
if rank == 0:
    print(f"{size} processes, crop {crop}, sum of ranks {total.item():.0f}")
dist.destroy_process_group()
