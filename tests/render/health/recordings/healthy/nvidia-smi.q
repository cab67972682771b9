
==============NVSMI LOG==============

Timestamp                                 : Wed Mar  4 05:06:07 2026
Driver Version                            : 570.172.08
CUDA Version                              : 12.8

Attached GPUs                             : 8
GPU 00000000:07:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Product Brand                         : NVIDIA
    PCI
        Bus                               : 0x07
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 5
        Replays Since Reset               : 0
        Replay Number Rollovers           : 0
    Performance State                     : P0
    Fabric
        State                             : Completed
        Status                            : Success
        CliqueId                          : 0
        Health
            Bandwidth                     : N/A
    Processes                             : None
GPU 00000000:0F:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Product Brand                         : NVIDIA
    PCI
        Bus                               : 0x0F
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 5
        Replays Since Reset               : 0
        Replay Number Rollovers           : 0
    Performance State                     : P0
    Fabric
        State                             : Completed
        Status                            : Success
        CliqueId                          : 0
        Health
            Bandwidth                     : N/A
    Processes                             : None
GPU 00000000:47:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Product Brand                         : NVIDIA
    PCI
        Bus                               : 0x47
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 5
        Replays Since Reset               : 0
        Replay Number Rollovers           : 0
    Performance State                     : P0
    Fabric
        State                             : Completed
        Status                            : Success
        CliqueId                          : 0
        Health
            Bandwidth                     : N/A
    Processes                             : None
GPU 00000000:4E:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Product Brand                         : NVIDIA
    PCI
        Bus                               : 0x4E
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 5
        Replays Since Reset               : 0
        Replay Number Rollovers           : 0
    Performance State                     : P0
    Fabric
        State                             : Completed
        Status                            : Success
        CliqueId                          : 0
        Health
            Bandwidth                     : N/A
    Processes                             : None
GPU 00000000:87:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Product Brand                         : NVIDIA
    PCI
        Bus                               : 0x87
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 5
        Replays Since Reset               : 0
        Replay Number Rollovers           : 0
    Performance State                     : P0
    Fabric
        State                             : Completed
        Status                            : Success
        CliqueId                          : 0
        Health
            Bandwidth                     : N/A
    Processes                             : None
GPU 00000000:90:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Product Brand                         : NVIDIA
    PCI
        Bus                               : 0x90
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 5
        Replays Since Reset               : 0
        Replay Number Rollovers           : 0
    Performance State                     : P0
    Fabric
        State                             : Completed
        Status                            : Success
        CliqueId                          : 0
        Health
            Bandwidth                     : N/A
    Processes                             : None
GPU 00000000:B7:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Product Brand                         : NVIDIA
    PCI
        Bus                               : 0xB7
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 5
        Replays Since Reset               : 0
        Replay Number Rollovers           : 0
    Performance State                     : P0
    Fabric
        State                             : Completed
        Status                            : Success
        CliqueId                          : 0
        Health
            Bandwidth                     : N/A
    Processes                             : None
GPU 00000000:BD:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Product Brand                         : NVIDIA
    PCI
        Bus                               : 0xBD
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 5
        Replays Since Reset               : 0
        Replay Number Rollovers           : 0
    Performance State                     : P0
    Fabric
        State                             : Completed
        Status                            : Success
        CliqueId                          : 0
        Health
            Bandwidth                     : N/A
    Processes                             : None

