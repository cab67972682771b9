-- Health of a RayJob. "Healthy" is running or succeeded, never a promise that it will succeed; Complete with any status but SUCCEEDED is a failure.
local hs = { status = "Progressing", message = "not seen by KubeRay yet" }
if obj.spec ~= nil and obj.spec.suspend then
  hs.status = "Suspended"
  hs.message = "waits for admission by Kueue"
end
if obj.status == nil then
  return hs
end
local deployment = obj.status.jobDeploymentStatus or ""
local job = obj.status.jobStatus or ""
local message = obj.status.message
if message == nil or message == "" then
  message = deployment .. " " .. job
end
if deployment == "Complete" then
  if job == "SUCCEEDED" then
    return { status = "Healthy", message = message }
  end
  return { status = "Degraded", message = message }
end
if deployment == "Failed" or deployment == "ValidationFailed" then
  return { status = "Degraded", message = message }
end
if deployment == "Suspended" or deployment == "Suspending" then
  return { status = "Suspended", message = "waits for admission by Kueue" }
end
if deployment == "Running" then
  return { status = "Healthy", message = message }
end
if deployment ~= "" then
  return { status = "Progressing", message = message }
end
return hs
