package asynqplugin

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// taskKey is the hash of a task as long as an attempt of it runs, or a copy has won. It decides who ends the task:
//
//   - attempt: the attempt that asynq runs
//   - copy: its only copy; begun: the copy has begun
//   - won: the copy has succeeded before the attempt has ended; result: the copy's result
//
// A task may be deleted, and another be enqueued with the same ID. So an attempt that gets a copy also has its name in asynq's
// row of its task, in a field that ends with the row. The keys of a script are in one hash slot, so that it runs in a cluster.
func taskKey(queue, id string) string { return "straggler:{" + queue + "}:task:" + id }

// eventsKey is the stream of the begins and ends of attempts. Redis dates them.
func eventsKey(queue string) string { return "straggler:{" + queue + "}:events" }

// processKey is the key of a process with a plugin. Its value is when the plugin last looked, by the clock of its host.
func processKey(host string, pid int) string {
	return fmt.Sprintf("straggler:process:%s:%d", host, pid)
}

// asynqKey is a key of asynq. "pending" is the list of the tasks of a queue that wait, the next to run at its right end. "active" is
// the list of those that run. "t:" and an ID is the row of a task. If asynq changed the lists, copies would wait like other tasks, and
// be made as if slots were free. If asynq changed the row, no task would get a copy.
func asynqKey(queue, name string) string { return "asynq:{" + queue + "}:" + name }

// prelude is the beginning of a script that writes an event.
const prelude = `
	local function tell(name, state, about)
		redis.call('XADD', KEYS[2], 'MAXLEN', '~', '10000', '*', 'event',
			'{"key":' .. cjson.encode(KEYS[1]) .. ',"name":"' .. name .. '","state":"' .. state .. '","about":' .. (about or '{}') .. '}')
		redis.call('PEXPIRE', KEYS[2], 86400000)
	end
	local is = redis.call('HMGET', KEYS[1], 'attempt', 'copy', 'begun', 'won', 'result')`

var (
	// begin notes an attempt, unless a copy of an earlier attempt has done the task: then it returns the copy's result.
	// In the shadow mode it writes the event alone. ARGV: attempt, about it, milliseconds to keep, whether in the shadow mode.
	begin = redis.NewScript(prelude + `
		if ARGV[4] == '1' then return tell(ARGV[1], 'running', ARGV[2]) end
		if is[4] and redis.call('HGET', KEYS[3], 'straggler') == is[1] then return is[5] end
		redis.call('DEL', KEYS[1])
		redis.call('HSET', KEYS[1], 'attempt', ARGV[1])
		redis.call('PEXPIRE', KEYS[1], ARGV[3])
		tell(ARGV[1], 'running', ARGV[2])`)
	// end ends an attempt, unless its copy has won: then it returns the copy's result. ARGV: attempt, state.
	end = redis.NewScript(prelude + `
		local mine = is[1] == ARGV[1]
		tell(ARGV[1], mine and is[4] and 'cancelled' or ARGV[2])
		if mine and is[4] then return is[5] end
		if mine then redis.call('DEL', KEYS[1]) end`)
	// reserve grants an attempt its only copy. ARGV: attempt, copy.
	reserve = redis.NewScript(prelude + `
		if is[1] ~= ARGV[1] or is[2] or redis.call('EXISTS', KEYS[3]) == 0 then return false end
		redis.call('HSET', KEYS[1], 'copy', ARGV[2])
		redis.call('HSET', KEYS[3], 'straggler', ARGV[1])
		return ''`)
	// admit says whether a copy is wanted and has not begun. If so, the copy begins, or is queued again.
	// ARGV: attempt, copy, about the copy, state.
	admit = redis.NewScript(prelude + `
		if is[1] ~= ARGV[1] or is[2] ~= ARGV[2] or is[3] then return false end
		if ARGV[4] == 'running' then redis.call('HSET', KEYS[1], 'begun', 1) end
		tell(ARGV[2], ARGV[4], ARGV[3])
		return ''`)
	// win ends a copy, and says whether it has won. It wins if it has succeeded, and its attempt has not ended.
	// ARGV: attempt, copy, state, result, milliseconds to keep.
	win = redis.NewScript(prelude + `
		local won = ARGV[3] == 'succeeded' and is[1] == ARGV[1] and is[2] == ARGV[2]
		tell(ARGV[2], won and 'succeeded' or 'failed')
		if not won then return false end
		redis.call('HSET', KEYS[1], 'won', 1, 'result', ARGV[4])
		redis.call('PEXPIRE', KEYS[1], ARGV[5])
		return ''`)
	// first puts a task that waits at the head of its queue. ARGV: task.
	first = redis.NewScript(`return redis.call('LREM', KEYS[1], 1, ARGV[1]) == 1 and redis.call('RPUSH', KEYS[1], ARGV[1]) or 0`)
)

// ask runs a script about an attempt, and reports whether the script says yes. It may say it with a result.
func (p *Plugin) ask(ctx context.Context, s *redis.Script, of about, args ...any) (result string, yes bool, err error) {
	result, err = s.Run(ctx, p.redis, []string{taskKey(of.Queue, of.Task), eventsKey(of.Queue), asynqKey(of.Queue, "t:"+of.Task)}, args...).Text()
	if err == redis.Nil {
		return "", false, nil
	}
	return result, err == nil, err
}
