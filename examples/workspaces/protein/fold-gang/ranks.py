import os

import torch.distributed as dist

dist.init_process_group("nccl")
print(f"rank {dist.get_rank()} of {dist.get_world_size()} on node {os.environ['GROUP_RANK']}")
dist.barrier()
dist.destroy_process_group()
