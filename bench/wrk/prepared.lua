-- Sends the prepared requests of a file in turn and prints what came of it as one line of JSON.
-- Arguments: the file, and `once` (end with the last request) or `repeat` (begin again).
local ffi = require("ffi")
ffi.cdef [[ int kill(int pid, int signal); int getpid(void); ]]
local sigint = 2

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  requests = {}
  once = args[2] == "once"
  -- wrk asks for one request before the load, only to look at it.
  position = 0
  looked = false
  for line in io.lines(args[1]) do
    local method, path, key, body = line:match("^(%S+) (%S+) (%S+) (.*)$")
    local headers = {}
    if key ~= "-" then headers["Authorization"] = "Bearer " .. key end
    if body == "" then body = nil else headers["Content-Type"] = "application/json" end
    requests[#requests + 1] = wrk.format(method, path, headers, body)
  end
  cpu_before = os.clock()
end

function request()
  if not looked then
    looked = true
    return requests[1]
  end
  position = position + 1
  if position > #requests then
    if once then
      -- The interrupt ends the sleep of the main thread, which stops the clock of the summary. One more request must be
      -- given now: the first again, whose answer nobody waits for.
      wrk.thread:stop()
      ffi.C.kill(ffi.C.getpid(), sigint)
    end
    position = 1
  end
  return requests[position]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"unexpected":%d,"latencyMs":{"p50":%.3f,"p99":%.3f,"p999":%.3f},"clientCpuSeconds":%.3f}\n',
    summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3,
    os.clock() - threads[1]:get("cpu_before")))
end
