// Package batch is for services that run batches of asynq tasks on several workers and wait for the slowest task. [Run]
// enqueues the tasks, starts a copy of a slow task on another worker or restarts the task there, and returns the first
// result of each task.
//
// A worker is an asynq server with a queue of its own. Its handlers stay as they are:
//
//	w := batch.Worker{Redis: redis, Slots: 8}
//	mux := asynq.NewServeMux()
//	mux.Use(w.Middleware())
//	mux.HandleFunc("resize", resize)
//	asynq.NewServer(redis, w.Config()).Run(mux)
//
// The process that has the tasks calls Run. Run returns when each task has a result or has failed for good:
//
//	out, err := batch.Run(ctx, redis, "thumbnails-2026-11", tasks, batch.Options{})
//
// # What a handler must allow
//
//   - The handler may run twice for the same task, also at the same time on two workers.
//   - Its context may end at any time.
//
// A handler passes its result to [WriteResult]. The result of the winning attempt is in Outcome.Results. If a handler
// writes a file or a row, each attempt should write to a place of its own, such as a name with [Attempt] in it. For tasks
// that must not run twice at once, set Options.NoCopy. A task with NoCopy is only restarted, after its attempt has ended.
//
// A handler may report its progress by [Progress]. Without progress, the age of an attempt is compared with the ages of
// the other attempts. Set Options.Work if some tasks have much more to do than others. Otherwise every policy takes the
// large tasks for slow tasks.
//
// # What Redis holds
//
// All state is in Redis, in keys "straggler:{name}:..." beside the keys of asynq:
//
//   - a stream of the workers' reports;
//   - a snapshot of the phase, which Run writes every few seconds;
//   - the attempts that have begun;
//   - the outputs of successful attempts, and the results of the tasks.
//
// A further key for each Options.Kind holds the run times and trials that the batches of this kind have shown. Redis
// dates the reports, so the clocks of the workers do not matter.
//
// A process may die in Run. Then another process calls Run again with the same name and the same tasks, or has called
// it before and waits. Among several calls of Run for a batch, a lease selects the call that works. Tasks with other
// types or payloads under the same name are an error. Each result is taken once. After the end of a batch its keys stay
// for Options.Retention, and Run returns the same outcome again. If no call of Run goes on with a batch, Redis forgets
// it after Options.Retention, but not within a day. After that, attempts that still run write no keys, and attempts
// that wait never begin.
//
// # Workers that come and go
//
// A worker that starts during a batch gets tasks. A worker that restarts with more slots gets more tasks. If asynq's
// heartbeat of a worker stops, the worker is taken to be dead, and its attempts are started elsewhere. If a worker never
// comes back, asynq keeps the messages that were active there, at most one for each slot. So use the names of workers
// again.
//
// An attempt begins once, even if asynq delivers its message twice. A retry is a new attempt. A task may fail four
// times, whatever MaxRetry says. A task that asynq refuses, such as a task without a type, is an error at once. A task
// with a deadline in the past fails.
//
// # Failures of Redis
//
// Run waits while Redis is away. Redis may come back without its last writes, as after a failover. Then the batch goes on
// from the state that Redis has. The output of an attempt and the report of its success are written together, so that
// Redis has both or neither, and a task without a result runs again.
//
// A Redis without persistence may come back without the batch. Then Run returns an error that says so, and the batch
// has to be run again. Attempts of the first run may still run then, but their results do not count. If Options.NoCopy
// is set, wait for their end before the second run.
//
// As for asynq, Redis must not evict keys. Redis 6.2 or later is needed.
package batch
