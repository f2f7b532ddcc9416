// Package sqlqueue is a job queue on Postgres or SQLite that copies slow jobs to other workers. It is for services that
// have a database and no job queue yet. A program that uses River (https://riverqueue.com) imports package riverqueue
// instead.
//
// A worker runs the attempts of jobs, and any process inserts jobs:
//
//	q, err := sqlqueue.Open(ctx, db, "default") // db is a *sql.DB; Open creates the tables
//	go queue.Worker{Slots: 8}.Run(ctx, q, map[string]queue.Handler{"resize": resize})
//
//	results, err := q.Run(ctx, "thumbnails-2026-11", queue.Batch("resize", inputs...), queue.Options{
//		Kinds: map[string]queue.Kind{"resize": {Copies: true}},
//	})
//
// [Queue.Run] runs a batch, and waits for its results. Single jobs are inserted with [Queue.Insert], also in a
// transaction of yours. Then one process or several call [queue.Serve], and one process coordinates:
//
//	ids, err := q.Insert(ctx, tx, sqlqueue.Job{Kind: "mail", Input: letter})
//	err = queue.Serve(ctx, q, queue.Options{})
//
// With Kind.Copies a handler may be called twice for a job, at the same time on two workers. [queue.Key] is then the
// same for both, for use as an idempotency key. Without Copies an attempt is replaced only when its worker is lost,
// when it fails, or when its hard timeout has passed.
//
// # The tables
//
// The database holds all state. The tables are straggler_job, straggler_batch, straggler_attempt, straggler_worker,
// straggler_state, straggler_knowledge and straggler_migration; queues of several names share them. A coordinator
// writes its actions and its own state in one transaction, which first checks that it is still the coordinator. So a
// process may die anywhere, and two coordinators at once do no harm. The database's clock gives all times.
//
// A coordinator looks into the database every 25 ms, and a worker every 100 ms and after each attempt. A look of the
// coordinator is two short queries: the jobs that wait, and the attempts. There are also
//
//   - a query for the workers every 200 ms;
//   - in [Queue.Run], a query in each look whether a job of the batch is left;
//   - a transaction if something has changed, and otherwise four times in each Options.Takeover.
//
// A look of a worker is one short transaction. All queries use an index. Jobs that have ended stay until [Queue.Forget],
// or until you delete their rows.
//
// SQLite has one writer at a time. The package waits for it; transactions of yours wait if the database was opened with
// a busy_timeout, and if they lock it at their beginning. With modernc.org/sqlite both stand in the name of the file:
// "jobs.db?_pragma=busy_timeout(10000)&_txlock=immediate".
package sqlqueue
