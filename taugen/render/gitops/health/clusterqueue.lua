-- Health of a ClusterQueue: its condition Active. On hold by policy is suspended, not broken.
local hs = { status = "Progressing", message = "not seen by Kueue yet" }
if obj.status ~= nil then
  for _, condition in ipairs(obj.status.conditions or {}) do
    if condition.type == "Active" then
      hs.message = condition.message
      if condition.status == "True" then
        hs.status = "Healthy"
      elseif condition.reason == "Stopped" then
        hs.status = "Suspended"
      elseif condition.reason == "Terminating" then
        hs.status = "Progressing"
      else
        hs.status = "Degraded"
      end
    end
  end
end
return hs
