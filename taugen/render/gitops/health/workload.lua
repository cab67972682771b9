-- Health of a Workload, which Kueue makes for each run: waiting is suspended, admitted is healthy, stopped for good is degraded.
local hs = { status = "Suspended", message = "waits for quota" }
if obj.spec ~= nil and obj.spec.active == false then
  hs.status = "Degraded"
  hs.message = "deactivated"
end
if obj.status == nil then
  return hs
end
local conditions = {}
for _, condition in ipairs(obj.status.conditions or {}) do
  conditions[condition.type] = condition
end
local finished = conditions["Finished"]
if finished ~= nil and finished.status == "True" then
  hs.message = finished.message
  hs.status = "Healthy"
  if finished.reason ~= nil and string.find(finished.reason, "Fail") then
    hs.status = "Degraded"
  end
  return hs
end
local evicted = conditions["Evicted"]
if hs.status == "Degraded" then
  if evicted ~= nil and evicted.status == "True" then
    hs.message = evicted.message
  end
  return hs
end
local admitted = conditions["Admitted"]
if admitted ~= nil and admitted.status == "True" then
  return { status = "Healthy", message = "admitted" }
end
local quota = conditions["QuotaReserved"]
if quota ~= nil then
  hs.message = quota.message
end
return hs
