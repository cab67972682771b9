"""Names that people bring from other systems, and what they are here.

In: nothing. Out: `FOREIGN` by the name without case, ``-`` and ``_``: the canonical field (or None where there is none) and what to write.
The names are the public ones of SkyPilot (sky/utils/schemas.py), dstack (dstack.yml reference), Kubeflow Trainer (trainjob_types.go), Azure
ML (command job YAML), Run:ai (CLI reference), Determined, codeflare, KubeRay (rayjob_types.go), Kubernetes (batch/v1), Slurm (sbatch).
"""

from typing import Final, NamedTuple

from taugen.words import Path


class Meaning(NamedTuple):
    """What a foreign name is here: the field, the empty path where it holds any of them, None where it is nothing."""

    field: Path | None
    hint: str


_ROWS: Final = """
$schema                 -                       remove it: editors read the line # yaml-language-server: $schema=…
accelerator             compute.gpu_class       write compute.gpu_class, such as h100-80gb, and compute.gpus
acceleratorargs         -                       remove it: the flavor knows the device
acceleratorcount        compute.gpus            write compute.gpus (GPUs of each worker)
accelerators            compute.gpus            write compute.gpus: 8 and compute.gpu_class, such as h100-80gb, for H100:8
acceleratortype         compute.gpu_class       write compute.gpu_class, such as h100-80gb
account                 policy.team             write policy.team
activedeadlineseconds   run.max_duration        write run.max_duration, such as 72h
affinity                policy.node_affinity    write policy.node_affinity: [{key, operator, values}]
annotations             -                       remove it: annotations of run objects are set by the platform's overlays
anyof                   -                       choose one shape: compute or policy.profile
apiversion              -                       remove it: tau.yaml is not a Kubernetes object
array                   -                       write one run for each value, or execution.launcher: ray-tune
autostop                -                       remove it: a run ends when its program does; run.max_duration bounds it
availabilityzones       policy.cluster          write policy.cluster
backend                 -                       remove it: the program chooses it; TAU_DIST_BACKEND says nccl or gloo
backends                policy.cluster          write policy.cluster
backofflimit            resilience.max_retries  write resilience.max_retries: every retry is a new attempt
basemodel               model.base              write model.base
bindmounts              storage.mounts          write storage.mounts: [{name, storage, path}] with a Storage of the workspace
checkpointdir           checkpoint.path         write checkpoint.path
checkpointstorage       checkpoint              write checkpoint: {path, every, keep, resume}
claimname               storage.mounts          write storage.mounts: [{name, storage, path}] with a Storage of the workspace
cloud                   policy.cluster          write policy.cluster
cmd                     run.entrypoint          write run.entrypoint: [program, argument, …]
codesource              code                    write code.path, or code.git: {url, ref}
command                 run.entrypoint          write run.entrypoint: [program, argument, …]
commands                run.entrypoint          write run.entrypoint, with the lines before it in run.setup
completions             execution.nodes         write execution.nodes (with launcher torchrun)
conda                   runtime.image           write runtime.image: conda environments belong into the image
constraint              compute.gpu_class       write compute.gpu_class or policy.node_affinity
container               runtime                 write runtime.image and runtime.env
containers              runtime                 write runtime.image and runtime.env: a run has one container
cpu                     compute.cpus            write compute.cpus
cpucorelimit            compute.cpu_limit       write compute.cpu_limit
cpucorerequest          compute.cpus            write compute.cpus
cpucount                compute.cpus            write compute.cpus
cpumemorylimit          compute.memory_limit    write compute.memory_limit
cpumemoryrequest        compute.memory          write compute.memory
cpuspertask             compute.cpus            write compute.cpus
creationpolicy          -                       remove it: capacity is the platform's, and a run waits in its queue
cwd                     code.path               write code.path for the folder of the code, runtime.working_dir for that in the container
dataset                 storage.data            write storage.data with a Storage of the workspace
deadline                run.max_duration        write run.max_duration, such as 72h
dependencies            runtime.pip             write runtime.pip
dependson               -                       not built yet: publish the second run when the first has finished
disksize                compute.disk            write compute.disk, such as 200Gi
disktier                -                       remove it: mount a Storage of the workspace for fast disks
displayname             description             write description
distributed             execution               write execution: {launcher: torchrun, nodes, processes_per_node}
distribution            execution               write execution: {launcher: torchrun, nodes, processes_per_node}
docker                  -                       remove it: containers of runs have no Docker daemon
earlytermination        -                       not built yet: remove it
entrypointnumcpus       -                       remove it: the driver runs on the head (compute.head)
entrypointnumgpus       -                       remove it: the driver gets no GPU
entrypointresources     -                       remove it: the driver runs on the head (compute.head)
envfrom                 runtime.env_secret      write runtime.env_secret: {NAME: "SECRET:KEY"}, one line for each variable
environment             runtime                 write runtime.image and runtime.env
environments            runtime.env             write runtime.env
environmentvariables    runtime.env             write runtime.env
envs                    runtime.env             write runtime.env
envvars                 runtime.env             write runtime.env
existingpvc             storage.mounts          write storage.mounts: [{name, storage, path}] with a Storage of the workspace
experimentname          experiment.name         write experiment.name
extendedresource        compute.rdma            write compute.gpus for GPUs, compute.rdma for RDMA devices
filemounts              storage.mounts          write storage.mounts: [{name, storage, path}] with a Storage of the workspace
files                   code.include            write code.path, and code.include for a part of it
fleets                  policy.profile          write policy.profile
gitsync                 code.git                write code.git: {url, ref}
gpu                     compute.gpus            write compute.gpus for the count and compute.gpu_class for the kind, such as a100-80gb
gpucount                compute.gpus            write compute.gpus
gpudevicesrequest       compute.gpus            write compute.gpus
gpufraction             compute.mig_profile     write compute.mig_profile for a slice: parts of a GPU are not shared here
gpumemory               compute.gpu_class       write compute.gpu_class, such as a100-80gb
gpumemoryrequest        compute.gpu_class       write compute.gpu_class, such as a100-80gb
gpuportionrequest       compute.mig_profile     write compute.mig_profile for a slice: parts of a GPU are not shared here
gpusperjob              compute.gpus            write compute.gpus (GPUs of each worker)
gpuspernode             compute.gpus            write compute.gpus (GPUs of each node)
gpuspertask             compute.gpus            write compute.gpus and execution.processes_per_node
gputype                 compute.gpu_class       write compute.gpu_class, such as h100-80gb
gres                    compute.gpus            write compute.gpus: 8 for gpu:8
groups                  -                       not built yet: a run has one kind of worker
headcpus                compute.head.cpus       write compute.head: {cpus, memory}
headgroupspec           compute.head            write compute.head: {cpus, memory}
headmemory              compute.head.memory     write compute.head: {cpus, memory}
homedir                 -                       remove it: the image has its home folder
hooks                   -                       remove it: the program gets SIGTERM and run.grace_period to save
hostnetwork             -                       remove it: pods of runs never use the host's network
hostpath                storage.mounts          write storage.mounts with a Storage of the workspace: host paths are not allowed
hparams                 experiment.hyperparameters write experiment.hyperparameters: {NAME: value}
identity                -                       remove it: the service account is that of the workspace
idleduration            -                       remove it: a run ends when its program does; run.max_duration bounds it
imageid                 runtime.image           write runtime.image without docker:
imagepullpolicy         -                       remove it: pin runtime.image by digest
imagepullsecrets        -                       remove it: the workspace's service account pulls images
infra                   policy.cluster          write policy.cluster
initializer             storage.data            write storage.data with a Storage of the workspace
instancecount           execution.nodes         write execution.nodes (with launcher torchrun), or compute.workers on Ray
instancetype            policy.profile          write policy.profile, or compute.gpu_class and compute.gpus
instancetypes           policy.profile          write policy.profile, or compute.gpu_class and compute.gpus
jobname                 name                    write name
jobrecovery             resilience              write resilience: {max_retries, retry_on, fatal_exit_codes}
kind                    run.workload_kind       write run.workload_kind: job, rayjob or jobset
largeshm                compute.shm_size        write compute.shm_size, such as 32Gi
limits                  run.max_duration        write run.max_duration for time, compute.cpu_limit and compute.memory_limit for size
localqueue              policy.queue            write policy.queue
masteraddr              -                       remove it: taugen sets MASTER_ADDR of a gang
masterport              -                       remove it: taugen sets MASTER_PORT of a gang
maxcost                 -                       not built yet: run.max_duration bounds what a run can use
maxgpuhours             -                       not built yet: run.max_duration bounds what a run can use
maxhourlycost           -                       not built yet: run.max_duration bounds what a run can use
maxprice                -                       not built yet: run.max_duration bounds what a run can use
maxreplicas             -                       not built yet: a gang has a fixed size, execution.nodes or compute.workers
maxrestarts             resilience.max_retries  write resilience.max_retries: every retry is a new attempt
maxruntime              run.max_duration        write run.max_duration, such as 72h
maxtotaltrials          execution.num_samples   write execution.num_samples
mem                     compute.memory          write compute.memory, such as 64Gi
memorygb                compute.memory          write compute.memory, such as 64Gi
mempercpu               compute.memory          write compute.memory, such as 64Gi
metadata                name                    write name and labels at the top: tau.yaml is not a Kubernetes object
minreplicas             -                       not built yet: a gang has a fixed size, execution.nodes or compute.workers
ncpus                   compute.cpus            write compute.cpus
networktier             -                       write compute.rdma, or a profile that has it
ngpus                   compute.gpus            write compute.gpus (GPUs of each worker)
nnodes                  execution.nodes         write execution.nodes with execution.launcher: torchrun
node                    execution.nodes         write execution.nodes with execution.launcher: torchrun
nodecount               execution.nodes         write execution.nodes with execution.launcher: torchrun
nodepool                policy.profile          write policy.profile, or policy.node_affinity
nodepools               policy.profile          write policy.profile, or policy.node_affinity
nodeselector            policy.node_affinity    write policy.node_affinity: [{key, operator, values}]
nodetype                policy.node_affinity    write policy.node_affinity, or compute.gpu_class
nproc                   execution.processes_per_node  write execution.processes_per_node
nprocpernode            execution.processes_per_node  write execution.processes_per_node
ntasks                  execution.nodes         write execution.nodes and execution.processes_per_node
ntaskspernode           execution.processes_per_node  write execution.processes_per_node
numaccelerators         compute.gpus            write compute.gpus
numcpus                 compute.cpus            write compute.cpus
numgpus                 compute.gpus            write compute.gpus
nummachines             execution.nodes         write execution.nodes with execution.launcher: torchrun
numnodes                execution.nodes         write execution.nodes with execution.launcher: torchrun (compute.workers on Ray)
numprocesses            execution.processes_per_node  write execution.processes_per_node: the processes of one node, not of all
numprocpernode          execution.processes_per_node  write execution.processes_per_node
numworkers              compute.workers         write compute.workers
nvcc                    -                       remove it: the CUDA compiler belongs into the image
nvidia.com/gpu          compute.gpus            write compute.gpus
objective               execution.metric        write execution.metric and execution.mode
ordered                 -                       choose one shape: compute or policy.profile
output                  storage.output          write storage.output
outputs                 storage.output          write storage.output: a folder below a mounted storage
packages                runtime.pip             write runtime.pip
parallelism             execution.nodes         write execution.nodes (with launcher torchrun)
parameters              experiment.hyperparameters  write execution.configs for the program, experiment.hyperparameters for the record
partition               policy.queue            write policy.queue
pool                    -                       not built yet: a run is submitted alone
poolid                  policy.queue            write policy.queue
ports                   -                       remove it: runs that end have no ports; serving is not built yet
priorityclass           policy.priority         write policy.priority with a tier of the platform
priorityclassname       policy.priority         write policy.priority with a tier of the platform
privileged              -                       remove it: runs are never privileged
processcountperinstance execution.processes_per_node  write execution.processes_per_node
procpernode             execution.processes_per_node write execution.processes_per_node
project                 experiment.project      write experiment.project; the workspace is the folder that the file stands in
pvc                     storage.data            write storage.data, or storage.mounts, with a Storage of the workspace
python                  runtime.python          write runtime.python
pythonversion           runtime.image           write runtime.image with that Python
qos                     policy.priority         write policy.priority with a tier of the platform
queuename               policy.queue            write policy.queue
queuesettings           policy.priority         write policy.queue and policy.priority
ram                     compute.memory          write compute.memory, such as 64Gi
rayclusterspec          compute                 write compute.workers, compute.gpus, compute.head: the cluster is made from them
rayversion              runtime.image           remove it: the Ray version is read from the tag of runtime.image
readinessprobe          -                       remove it: runs that end have no probes; serving is not built yet
region                  policy.cluster          write policy.cluster
regions                 policy.cluster          write policy.cluster
registryauth            -                       remove it: the workspace's service account pulls images
replicas                compute.workers         write compute.workers on Ray, execution.nodes for a torchrun gang
repos                   code.git                write code.git: {url, ref}
requirements            runtime.pip             write runtime.pip
reservation             policy.queue            write policy.queue
reservations            policy.queue            write policy.queue
resourcepool            policy.queue            write policy.queue
resources               compute                 write compute: {gpus, gpu_class, cpus, memory}
resourcespernode        compute                 write compute: {gpus, gpu_class, cpus, memory}
resourcesperworker      compute                 write compute: {gpus, gpu_class, cpus, memory}
restartpolicy           resilience              write resilience.max_retries: every retry is a new attempt
retries                 resilience.max_retries  write resilience.max_retries
retry                   resilience              write resilience: {max_retries, retry_on, fatal_exit_codes}
runtimeenv              runtime                 write runtime.pip and runtime.env
runtimeenvyaml          runtime                 write runtime.pip and runtime.env
runtimeref              policy.profile          write policy.profile
samplingalgorithm       execution               write execution: {launcher: ray-tune, metric, mode, num_samples, configs}
schedule                -                       not built yet: commit a change of generation from a scheduled workflow
searcher                execution               write execution: {launcher: ray-tune, metric, mode, num_samples, configs}
searchspace             execution.configs       write execution.configs with launcher ray-tune
secretenv               runtime.env_secret      write runtime.env_secret: {NAME: "SECRET:KEY"}
secrets                 runtime.env_secret      write runtime.env_secret: {NAME: "SECRET:KEY"}
securitycontext         runtime.security        write runtime.security: {mode: restricted}
service                 -                       not built yet: taugen compiles runs that end
serviceaccount          -                       remove it: the service account is that of the workspace
serviceaccountname      -                       remove it: the service account is that of the workspace
services                -                       not built yet: taugen compiles runs that end
setupcommands           run.setup               write run.setup, one line each
shell                   run.entrypoint          write run.entrypoint: [bash, script.sh]; run.setup gets bash where the image has it
shm                     compute.shm_size        write compute.shm_size, such as 32Gi
shmsize                 compute.shm_size        write compute.shm_size, such as 32Gi
singlebranch            -                       remove it: code.git fetches one commit
slotspertrial           compute.gpus            write compute.gpus (GPUs of each worker)
spec                    *                       write its fields at the top: tau.yaml is not a Kubernetes object
spot                    -                       remove it: what is preempted is queued again; resilience says what is retried
spotpolicy              -                       remove it: what is preempted is queued again; resilience says what is retried
startuporder            -                       remove it: the nodes of a gang start together
stopcriteria            -                       remove it: a gang has succeeded when all its nodes have
stopduration            run.grace_period        write run.grace_period, such as 10m
storagemounts           storage.mounts          write storage.mounts: [{name, storage, path}]
submissionmode          -                       remove it: taugen chooses it
submitterpodtemplate    -                       remove it: taugen writes it
suspend                 -                       remove it: Kueue suspends and resumes
sweep                   execution               write execution: {launcher: ray-tune, metric, mode, num_samples, configs}
tags                    labels                  write labels: {NAME: value}; those of a model are model.tags
taskspernode            execution.processes_per_node  write execution.processes_per_node
template                -                       write runtime, compute and storage: the pod is made from them
terminationgraceperiodseconds  run.grace_period write run.grace_period, such as 10m
time                    run.max_duration        write run.max_duration, such as 72h
timelimit               run.max_duration        write run.max_duration, such as 72h
timeout                 run.max_duration        write run.max_duration, such as 72h
tolerations             -                       remove it: tolerations come from the flavors that the run may get
trainer                 run                     write run, runtime, compute and execution
ttlsecondsafterfinished -                       remove it: finished runs are removed by the commit that retires them
type                    run.workload_kind       write run.workload_kind: job, rayjob or jobset
user                    -                       remove it: the image names its user; runtime.security: {mode: restricted} forbids root
usespot                 -                       remove it: what is preempted is queued again; resilience says what is retried
utilizationpolicy       -                       not built yet: remove it
vars                    runtime.env             write runtime.env
vcpus                   compute.cpus            write compute.cpus
virtualcluster          policy.queue            write policy.queue
volumemounts            storage.mounts          write storage.mounts: [{name, storage, path}]
volumes                 storage.mounts          write storage.mounts: [{name, storage, path}] with a Storage of the workspace
walltime                run.max_duration        write run.max_duration, such as 72h
workdir                 code.path               write code.path for the folder of the code, runtime.working_dir for that in the container
workercpus              compute.cpus            write compute.cpus
workergroupspecs        compute                 write compute.workers, compute.gpus, compute.cpus, compute.memory
workermemory            compute.memory          write compute.memory
workingdirectory        runtime.working_dir     write runtime.working_dir for the folder in the container, code.path for that of the code
worldsize               execution.nodes         write execution.nodes and execution.processes_per_node
zone                    policy.cluster          write policy.cluster
zones                   policy.cluster          write policy.cluster
"""


def _read(rows: str) -> dict[str, Meaning]:
    out = {}
    for row in rows.strip().splitlines():
        name, field, hint = row.split(None, 2)
        out[name] = Meaning(None if field == "-" else () if field == "*" else tuple(field.split(".")), hint)
    return out


FOREIGN: Final[dict[str, Meaning]] = _read(_ROWS)
