// Package batch is for services that run batches of asynq tasks on several workers, and wait until the slowest task
// has ended. [Run] enqueues the tasks. If a task is slow, Run starts a copy of the task on another worker, or ends
// the slow attempt and starts the task anew on another worker. Run returns the first result of each task.
//
// A worker is an asynq server with a queue of its own. The handlers of the server need no change:
//
//	w := batch.Worker{Redis: redis, Slots: 8}
//	mux := asynq.NewServeMux()
//	mux.Use(w.Middleware())
//	mux.HandleFunc("resize", resize)
//	asynq.NewServer(redis, w.Config()).Run(mux)
//
// The process that wants the results calls Run. Run returns when each task has a result or has failed for good, which
// means that the task is not tried again:
//
//	out, err := batch.Run(ctx, redis, "thumbnails-2026-11", tasks, batch.Options{})
//
// # What a handler must allow
//
//   - The handler may be called twice for the same task, even at the same time on two workers.
//   - The context of the handler may end at any time.
//
// A handler passes its result to [WriteResult]. The result of the winning attempt is in Outcome.Results. If a handler
// writes a file or a row, each attempt should write to a place of its own, such as a name with [Attempt] in it. For
// tasks that must not run twice at the same time, set Options.NoCopy. If a task with NoCopy is slow, Run ends the
// task's attempt, waits for its end, and only then starts the task anew.
//
// A handler may report its progress by calling [Progress]. Without progress, the policy compares how long an attempt
// has run with the run times of the other attempts. Set Options.Work if some tasks are much larger than others.
// Otherwise every policy mistakes the large tasks for slow tasks.
//
// # What Redis holds
//
// All state is in Redis, in keys that begin with "straggler:{name}:", where name is the name of the batch. The keys
// of asynq are separate. The keys contain:
//
//   - a stream of the workers' reports about their attempts;
//   - a snapshot of the state of Run, which Run writes every five seconds;
//   - the names of the attempts that have begun;
//   - the outputs of successful attempts, and the results of the tasks.
//
// For each value of Options.Kind there is one more key. It contains the run times of the earlier batches of this
// kind, and how many of their copies and restarts were won. Redis gives each report its time, so wrong clocks of
// workers do no harm.
//
// The process that called Run may die. Then another process continues the batch: it calls Run with the same name and
// the same tasks. This process may also call Run before, and wait. If several processes call Run for a batch, one
// call has the lease in Redis and works, and the other calls wait. If the tasks have other types or payloads than the
// tasks that Redis has under the same name, Run returns an error. Run takes only one result for each task. The keys
// of a batch stay in Redis for Options.Retention after the end of the batch. During this time a further call of Run
// returns the same outcome again. If the process dies and no other process continues the batch, Redis deletes the
// keys of the batch after Options.Retention, or after a day if that is longer. After that, attempts that still run
// write no keys, and attempts that wait in a queue never begin.
//
// # Workers that come and go
//
// A worker that starts during a batch gets tasks. A worker that restarts with more slots gets more tasks. If the
// heartbeat that asynq sends for a worker stops, Run takes the worker to be dead, and starts the tasks of the worker
// elsewhere. If a dead worker never comes back, asynq keeps the messages that were active on it: at most one message
// for each slot. So give a new worker the name of a dead worker.
//
// An attempt begins only once, even if asynq delivers its message twice. A retry is a new attempt. A task fails for
// good after four failed attempts, whatever asynq's option MaxRetry says. If asynq would refuse a task, such as a
// task without a type, Run returns an error at once. A task whose deadline has already passed fails.
//
// # Failures of Redis
//
// While Redis does not answer, Run waits. Redis may come back without its last writes, for example after a failover.
// Then Run continues the batch from the state that Redis has. A worker writes the output of an attempt and the report
// of its success in one step, so Redis has both or neither. A task whose result was lost runs again.
//
// A Redis without persistence may come back without the keys of the batch. Then Run returns an error that says so,
// and you have to call Run again. At this time attempts of the first call may still run. Run ignores the results of
// these attempts. If Options.NoCopy is set, wait until these attempts have ended before you call Run again.
//
// Redis must not evict keys; asynq demands this, too. Redis must have version 6.2 or later.
package batch
