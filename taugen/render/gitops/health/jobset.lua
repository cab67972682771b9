-- Health of a JobSet. "Healthy" is running or completed, never a promise that it will succeed.
local hs = { status = "Progressing", message = "not seen by the JobSet controller yet" }
if obj.spec ~= nil and obj.spec.suspend then
  hs.status = "Suspended"
  hs.message = "waits for admission by Kueue"
end
if obj.status == nil then
  return hs
end
if obj.status.terminalState == "Completed" then
  return { status = "Healthy", message = "completed" }
end
if obj.status.terminalState == "Failed" then
  hs.status = "Degraded"
  hs.message = "failed"
end
for _, condition in ipairs(obj.status.conditions or {}) do
  if condition.status == "True" and condition.type == "Completed" then
    return { status = "Healthy", message = condition.message }
  end
  if condition.status == "True" and condition.type == "Failed" then
    return { status = "Degraded", message = condition.message }
  end
end
if hs.status == "Progressing" and obj.spec ~= nil and not obj.spec.suspend then
  for _, job in ipairs(obj.status.replicatedJobsStatus or {}) do
    if (job.active or 0) > 0 or (job.ready or 0) > 0 or (job.succeeded or 0) > 0 then
      return { status = "Healthy", message = "running" }
    end
  end
end
return hs
