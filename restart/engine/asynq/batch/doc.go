// Package batch runs a batch of asynq's tasks on workers that share a Redis, and does something about those that take
// long: what lags behind its like is copied, or started again elsewhere, and the first result of a task counts.
//
// A worker is a server of asynq with a queue of its own, and handlers as they are:
//
//	w := batch.Worker{Redis: redis, Slots: 8}
//	mux := asynq.NewServeMux()
//	mux.Use(w.Middleware())
//	mux.HandleFunc("resize", resize)
//	asynq.NewServer(redis, w.Config()).Run(mux)
//
// Whoever has the tasks calls Run, which returns once all have a result, or have failed for good:
//
//	out, err := batch.Run(ctx, redis, "thumbnails-2026-11", tasks, batch.Options{})
//
// # What a handler must bear
//
// That it runs twice for the same task, also at the same time on two workers, and that its context ends at any point.
// What it gives to [WriteResult] counts if its attempt wins: that is Outcome.Results. What it writes elsewhere
// should have a place of its own for each attempt, such as a name with [Attempt] in it. Tasks that can't bear it are
// named by Options.Alone: they are started again, but never beside themselves.
//
// A handler that says how far it is by [Progress] is judged by that; else by its age beside the others'. Tasks of which
// some have much more to do than others look like stragglers to every rule: say so by Options.Work.
//
// # What is kept, and where
//
// All state is in Redis, in keys "straggler:{name}:..." beside those of asynq: a stream of what the workers tell, a
// snapshot of the phase that is written every few seconds, the attempts that have begun, what those that have succeeded
// gave to WriteResult, and the results; and in one key
// for each kind, by Options.Kind, what its batches have shown of how long such tasks take. Redis dates the stream, so it
// does not matter what the workers' clocks show. A process that dies in Run is replaced by one that calls it again with
// the same name and the same tasks, or by one that called it before and waits: of several, one is at work at a time.
// Other tasks under the same name, by their types and payloads, are an error.
// Each result is taken once. Once a batch is over, its keys are left for Options.Retention, and Run returns its outcome
// again. One that nobody goes on with is forgotten after that time, and a day at least; what still runs of it then makes
// no key again, and what waits does not begin.
//
// A worker that comes while the batch goes on gets work, and one that is started again with more slots gets more; one
// that is not heard of any more, by asynq's own heartbeat, is taken for dead, and what ran there begins elsewhere. Of a
// worker that never comes back, asynq keeps the messages that were active there, as many as its slots: so give workers
// names that are used again. An
// attempt begins once in its life, whatever asynq does about its message. Retries are new attempts, up to four failures
// of a task, whatever MaxRetry the task was made with. A task that asynq refuses, such as one without a type, is an error
// at once, and one whose deadline is over fails.
//
// As long as Redis is away, Run waits. If Redis comes back without its last moments, as after a failover, then the batch
// goes on from what Redis has: the output of an attempt and the news of its success are written at once, so that both are
// there or neither is, and a task without a result runs again. One that comes back without the batch, since it keeps nothing on disk,
// is an error that says so: then it has to be run again, and what still runs of the first time does not count. A batch
// of tasks that are Alone should wait for that to end. Redis must not evict keys, as for asynq, and be 6.2 or later.
package batch
