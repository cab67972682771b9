-- Health of a LocalQueue: its condition Active. An inactive ClusterQueue tells its own story, so here it only suspends.
local hs = { status = "Progressing", message = "not seen by Kueue yet" }
if obj.status ~= nil then
  for _, condition in ipairs(obj.status.conditions or {}) do
    if condition.type == "Active" then
      hs.message = condition.message
      if condition.status == "True" then
        hs.status = "Healthy"
      elseif condition.reason == "Stopped" or condition.reason == "ClusterQueueIsInactive" then
        hs.status = "Suspended"
      else
        hs.status = "Degraded"
      end
    end
  end
end
return hs
