-- Health of a child Application, as its parent sees it. Argo CD itself has none, and then waves between Applications wait for nothing.
-- A suspended child counts as healthy: a queue on hold or a run that waits for quota must not stop the waves of the parent.
local hs = { status = "Progressing", message = "not synced yet" }
if obj.status ~= nil and obj.status.health ~= nil and obj.status.health.status ~= nil then
  hs.status = obj.status.health.status
  hs.message = obj.status.health.message or ""
  if hs.status == "Suspended" then
    hs.status = "Healthy"
    hs.message = "suspended: work in it waits"
  end
end
return hs
