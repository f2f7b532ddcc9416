// Package queue is the part that all job queues share: a driver that submits jobs to workers, and copies or restarts
// attempts that are slow. It is for the author of a store. A program that wants a queue imports a store:
//
//   - package sqlqueue, on Postgres or SQLite
//   - package riverqueue, for programs that use River
//   - package asynqqueue, for programs that use Asynq
//
// An attempt is one run of a job on a worker. A process that calls [Serve] for a store becomes its coordinator, or
// waits until the coordinator dies:
//
//	err := queue.Serve(ctx, store, queue.Options{Kinds: map[string]queue.Kind{"resize": {Copies: true}}})
//
// The coordinator looks into the store every 25 ms. It sees which attempts have begun and ended, decides by a
// policy of package restart, and commits new attempts, cancellations and results together with its own state. Jobs come
// as batches, which end, and as single jobs, which come without an end. Jobs of one kind are compared with each other.
// Their run times are kept for the next jobs of the kind.
//
// # What a job may expect
//
//   - Each job gets one result: the first result of its attempts. That holds if processes die, and if attempts are copied.
//   - An attempt begins at most once, and on one worker.
//   - With Kind.Copies a handler may run twice at the same time for a job. [Key] is the same for all attempts of the job.
//     Without Copies a second attempt begins only when the first has failed, has passed Kind.Timeout, or was on a worker
//     that is lost. A worker that is taken for lost may still run; then two attempts run.
//   - A failed job waits for its back-off, and is tried again, 25 times by default: [DefaultBackOff]. While it waits, it
//     occupies no slot.
//   - Two attempts more than its slots wait at each worker, so that a slot is never idle while the coordinator looks. A
//     waiting attempt moves to another worker if that one has a free slot, or if its own is slow.
//
// # A store of your own
//
// A [Store] has seven short methods, and a [Source], for workers, has two. Package queuetest checks them, and has a
// model in memory to compare with.
package queue
