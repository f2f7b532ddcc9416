package asynqqueue

import (
	"context"
	"encoding/json"

	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart/engine/queue"
)

// The states of a job, in its key.
const (
	jobDone   = "2"
	jobFailed = "3"
)

// The arguments of the scripts, as JSON. JSON keeps only UTF-8: the state is base64, and inputs follow as they are.

type insertion struct {
	Jobs  []inserted `json:"jobs"`
	Batch string     `json:"batch,omitempty"`
	Print string     `json:"print,omitempty"`
}

type inserted struct {
	ID    string  `json:"id"`
	Kind  string  `json:"kind"`
	Batch string  `json:"batch"`
	Work  float64 `json:"work"`
}

type commit struct {
	Epoch   int64        `json:"epoch"`
	Term    int64        `json:"term"`
	Keep    int64        `json:"keep"`
	Reset   bool         `json:"reset,omitempty"`
	State   string       `json:"state,omitempty"`
	Rest    []rest       `json:"rest,omitempty"`
	Take    []string     `json:"take,omitempty"`
	Submit  []submission `json:"submit,omitempty"`
	Cancel  []string     `json:"cancel,omitempty"`
	Publish []pair       `json:"publish,omitempty"`
	Fail    []pair       `json:"fail,omitempty"`
	Seen    []string     `json:"seen,omitempty"`
}

type submission struct {
	Name   string `json:"name"`
	Worker string `json:"worker"`
	Job    string `json:"job"`
	Number int    `json:"number"`
}

type rest struct {
	Job      string `json:"job"`
	Failures int    `json:"failures"`
	For      int64  `json:"for"` // microseconds
}

type pair struct {
	Job  string `json:"job"`
	Text string `json:"text"`
}

type beat struct {
	Worker  string     `json:"worker"`
	Slots   int        `json:"slots"`
	Leaving bool       `json:"leaving,omitempty"`
	Running []progress `json:"running,omitempty"`
}

type progress struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
}

func names(targets []queue.Target) (all []string) {
	for _, t := range targets {
		all = append(all, t.Name)
	}
	return all
}

func mustJSON(v any) []byte {
	data, _ := json.Marshal(v) // the types here hold nothing that JSON can't hold
	return data
}

// insert runs insertScript for single jobs, or for a batch with its fingerprint.
func (q *Queue) insert(ctx context.Context, jobs []queue.Job, batch, print string) (any, error) {
	d, args := insertion{Batch: batch, Print: print}, make([]any, 1+len(jobs))
	for i, j := range jobs {
		d.Jobs, args[1+i] = append(d.Jobs, inserted{j.ID, j.Kind, j.Batch, j.Work}), j.Input
	}
	args[0] = mustJSON(d)
	return q.run(ctx, insertScript, args...)
}

// run runs a script.
func (q *Queue) run(ctx context.Context, s *redis.Script, args ...any) (any, error) {
	return s.Run(ctx, q.rdb, []string{q.key("")}, args...).Result()
}

// The scripts get the beginning of all keys of the queue as their only key. Each begins with prelude.
const prelude = `
local P = KEYS[1]
local t = redis.call("TIME")
local now = t[1] * 1000000 + t[2]
local function stamp() return string.format("%.0f", now) end
local function get(key, field) return redis.call("HGET", P .. key, field) end
local function set(key, ...) redis.call("HSET", P .. key, ...) end
`

func script(text string) *redis.Script { return redis.NewScript(prelude + text) }

// insertScript inserts jobs. For a batch it returns the fingerprint of the batch, and changes nothing if it exists.
var insertScript = script(`
local d = cjson.decode(ARGV[1])
if d.batch then
	local was = get("batch:" .. d.batch, "print")
	if was then return was end
	set("batch:" .. d.batch, "print", d.print, "n", #d.jobs, "left", #d.jobs)
end
for i, j in ipairs(d.jobs) do
	set("job:" .. j.id, "kind", j.kind, "batch", j.batch, "work", j.work, "input", ARGV[i + 1], "state", 0)
	redis.call("ZADD", P .. (j.batch == "" and "single" or "waiting"), redis.call("INCR", P .. "count"), j.id)
end
return d.print or ""`)

var waitingScript = script(`
local all = {}
local function add(list, ids)
	for _, id in ipairs(ids) do
		local f = redis.call("HMGET", P .. "job:" .. id, "kind", "batch", "work", "failures")
		if f[1] then
			all[#all + 1] = {id, f[1], f[2], f[3], f[4] or "0"}
		else -- somebody has deleted the job
			redis.call("ZREM", P .. list, id)
		end
	end
end
add("waiting", redis.call("ZRANGE", P .. "waiting", 0, -1))
local limit = tonumber(ARGV[1])
local due = redis.call("ZRANGEBYSCORE", P .. "resting", "-inf", stamp(), "LIMIT", 0, limit)
add("resting", due)
if limit > #due then add("single", redis.call("ZRANGE", P .. "single", 0, limit - #due - 1)) end
return all`)

var listScript = script(`
local all = {}
for _, name in ipairs(redis.call("ZRANGE", P .. "attempts", 0, -1)) do
	local f = redis.call("HMGET", P .. "attempt:" .. name,
		"worker", "state", "begun", "ended", "share", "as_of", "error", "job", "sent")
	if f[1] then
		local published = get("job:" .. f[8], "winner") == name and "1" or ""
		local sent = f[9] and string.format("%.0f", (now - f[9]) / 1000 + 1) or ""
		all[#all + 1] = {name, f[1], f[2], f[3] or "", f[4] or "", f[5] or "", f[6] or "", f[7] or "", published, sent}
	end
end
return all`)

var workersScript = script(`
local all = {}
local names = redis.call("HKEYS", P .. "workers")
table.sort(names)
for _, name in ipairs(names) do
	local slots, heard = string.match(get("workers", name), "(%d+) (%d+)")
	all[#all + 1] = {name, slots, string.format("%.0f", (now - heard) / 1000)}
end
return all`)

var openScript = script(`
local s = redis.call("HMGET", P .. "state", "epoch", "owner", "till", "state")
if s[2] and s[2] ~= ARGV[1] and tonumber(s[3]) > now then return {} end
local epoch = string.format("%.0f", (s[1] or 0) + 1)
set("state", "epoch", epoch, "owner", ARGV[1], "till", string.format("%.0f", now + ARGV[2] * 1000))
return {{epoch, s[4] or ""}}`)

var commitScript = script(`
local d = cjson.decode(ARGV[1])
if tonumber(get("state", "epoch") or -1) ~= d.epoch then return 0 end
for _, p in ipairs(d.publish or {}) do
	local done = get("job:" .. p.job, "state") ~= "0"
	if not done and not get("attempt:" .. p.text, "output") then return 0 end
end
set("state", "till", string.format("%.0f", now + d.term * 1000))
if d.state then set("state", "state", d.state) end
local function wait(id)
	local f = redis.call("HMGET", P .. "job:" .. id, "batch", "state")
	if f[1] and f[2] == "0" then
		redis.call("ZADD", P .. (f[1] == "" and "single" or "waiting"), redis.call("INCR", P .. "count"), id)
	end
end
if d.reset then
	local ids = redis.call("ZRANGE", P .. "taken", 0, -1)
	redis.call("DEL", P .. "taken")
	for _, id in ipairs(ids) do wait(id) end
end
for _, r in ipairs(d.rest or {}) do
	if redis.call("ZREM", P .. "taken", r.job) == 1 and get("job:" .. r.job, "kind") then
		set("job:" .. r.job, "failures", r.failures)
		redis.call("ZADD", P .. "resting", string.format("%.0f", now + r["for"]), r.job)
	end
end
for _, id in ipairs(d.take or {}) do
	redis.call("ZREM", P .. "waiting", id)
	redis.call("ZREM", P .. "single", id)
	redis.call("ZREM", P .. "resting", id)
	redis.call("ZADD", P .. "taken", redis.call("INCR", P .. "count"), id)
end
for _, s in ipairs(d.submit or {}) do
	if redis.call("EXISTS", P .. "attempt:" .. s.name) == 0 then
		set("attempt:" .. s.name, "worker", s.worker, "job", s.job, "number", s.number, "state", 0)
		redis.call("ZADD", P .. "attempts", redis.call("INCR", P .. "count"), s.name)
		redis.call("SADD", P .. "on:" .. s.worker, s.name)
	end
end
for _, name in ipairs(d.cancel or {}) do
	local state = get("attempt:" .. name, "state")
	if state == "0" then
		set("attempt:" .. name, "state", 5, "ended", stamp())
	elseif state == "1" then
		set("attempt:" .. name, "cancel", 1)
	end
end
local function over(id, ...)
	if get("job:" .. id, "state") ~= "0" then return end
	set("job:" .. id, ...)
	redis.call("ZREM", P .. "taken", id)
	local name = get("job:" .. id, "batch")
	local batch = P .. "batch:" .. name
	if redis.call("EXISTS", batch) == 0 then
		redis.call("PEXPIRE", P .. "job:" .. id, d.keep)
	elseif redis.call("HINCRBY", batch, "left", -1) == 0 then
		redis.call("PEXPIRE", batch, d.keep)
		for i = 0, redis.call("HGET", batch, "n") - 1 do
			redis.call("PEXPIRE", P .. "job:" .. name .. "/" .. i, d.keep)
		end
	end
end
for _, p in ipairs(d.publish or {}) do
	over(p.job, "state", 2, "winner", p.text, "output", get("attempt:" .. p.text, "output"))
end
for _, f in ipairs(d.fail or {}) do over(f.job, "state", 3, "error", f.text) end
for _, name in ipairs(d.seen or {}) do
	local f = redis.call("HMGET", P .. "attempt:" .. name, "state", "worker")
	if f[1] and tonumber(f[1]) > 1 then
		redis.call("DEL", P .. "attempt:" .. name)
		redis.call("ZREM", P .. "attempts", name)
		redis.call("SREM", P .. "on:" .. f[2], name)
	end
end
return 1`)

// sentScript records that asynq has an attempt now.
var sentScript = script(`
if redis.call("EXISTS", P .. "attempt:" .. ARGV[1]) == 1 then set("attempt:" .. ARGV[1], "sent", stamp()) end
return 1`)

// stopScript ends an attempt in a state, if it still waits.
var stopScript = script(`
local key = "attempt:" .. ARGV[1]
if get(key, "state") == "0" then set(key, "state", ARGV[2], "ended", stamp()) end
return 1`)

var putScript = redis.NewScript(`
local version = tonumber(redis.call("HGET", KEYS[1], "version") or 0)
if version ~= tonumber(ARGV[2]) then return 0 end
redis.call("HSET", KEYS[1], "value", ARGV[1], "version", version + 1)
return 1`)

var beatScript = script(`
local d = cjson.decode(ARGV[1])
if d.leaving then
	redis.call("HDEL", P .. "workers", d.worker)
else
	set("workers", d.worker, d.slots .. " " .. stamp())
end
local running = {}
for _, r in ipairs(d.running or {}) do running[r.name] = r.share end
local cancel = {}
for _, name in ipairs(redis.call("SMEMBERS", P .. "on:" .. d.worker)) do
	local key = "attempt:" .. name
	local f = redis.call("HMGET", P .. key, "state", "share", "cancel")
	local share = running[name]
	if f[1] == "1" and not share or f[1] == "0" and d.leaving then
		set(key, "state", 4, "ended", stamp())
	elseif f[1] == "1" then
		if share > 0 and share ~= tonumber(f[2] or 0) then set(key, "share", string.format("%.17g", share), "as_of", stamp()) end
		if f[3] then cancel[#cancel + 1] = {name} end
	end
end
return cancel`)

var beginScript = script(`
local key = "attempt:" .. ARGV[1]
local f = redis.call("HMGET", P .. key, "state", "worker", "job", "number")
if f[1] ~= "0" or f[2] ~= ARGV[2] then return {} end
set(key, "state", 1, "begun", stamp())
local j = redis.call("HMGET", P .. "job:" .. f[3], "kind", "batch", "work", "input", "failures")
return {{f[3], f[4], j[1] or "", j[2] or "", j[3] or "", j[4] or "", j[5] or "0"}}`)

var endScript = script(`
local key = "attempt:" .. ARGV[1]
local state = get(key, "state")
if state == "1" or state and tonumber(state) > 3 and ARGV[2] == "2" then
	set(key, "state", ARGV[2], "ended", stamp(), "output", ARGV[3], "error", ARGV[4])
end
return {}`)
