// Package table is an example of a job queue in one table of SQLite, which copies and restarts slow tasks. It is for a
// program that has no queue, and wants no server. This file has all of it: submit, list, end, and a result that is stored
// once. A process that is killed loses nothing. For retries with a schedule, unique jobs and a web page take River, with
// package riverplugin.
package table

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/straggler-go/straggler/restart/engine"
)

const schema = `
CREATE TABLE IF NOT EXISTS task (
	batch TEXT, task INTEGER, input TEXT NOT NULL, output TEXT, winner TEXT, PRIMARY KEY (batch, task)
);
CREATE TABLE IF NOT EXISTS attempt (
	batch TEXT, id TEXT, task INTEGER NOT NULL, machine TEXT NOT NULL, state INTEGER NOT NULL DEFAULT 0, stop INTEGER NOT NULL DEFAULT 0,
	begun INTEGER NOT NULL DEFAULT 0, ended INTEGER NOT NULL DEFAULT 0, beat INTEGER NOT NULL DEFAULT 0, share REAL NOT NULL DEFAULT 0,
	output TEXT, PRIMARY KEY (batch, id)
);
CREATE TABLE IF NOT EXISTS worker (machine TEXT PRIMARY KEY, beat INTEGER NOT NULL);`

// Table is a queue in a file. Several processes may open the same file.
type Table struct{ db *sql.DB }

// Open opens the queue in a file, and makes it if it is missing.
func Open(file string) (*Table, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)")
	if err == nil {
		_, err = db.Exec(schema)
	}
	return &Table{db}, err
}

// Close closes the file.
func (t *Table) Close() error { return t.db.Close() }

// Add adds the tasks of a batch, in the transaction of the program. Tasks that the batch has stay as they are.
func Add(ctx context.Context, tx *sql.Tx, batch string, inputs []string) error {
	for i, input := range inputs {
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO task (batch, task, input) VALUES (?, ?, ?)`, batch, i, input); err != nil {
			return err
		}
	}
	return nil
}

// DB returns the database, for transactions of the program.
func (t *Table) DB() *sql.DB { return t.db }

// Handler runs an attempt of a task. Two attempts of a task may run at the same time.
type Handler func(ctx context.Context, input string, progress func(share float64)) (output string, err error)

const (
	every  = 100 * time.Millisecond // a worker looks for attempts, and reports, so often
	silent = 2 * time.Second        // a worker without a beat for so long is lost, and its attempts with it
)

// Work runs the attempts of a machine until ctx ends, at most slots at once.
func (t *Table) Work(ctx context.Context, machine string, slots int, h Handler) {
	var all sync.WaitGroup
	all.Go(func() {
		for tick := time.Tick(every); ctx.Err() == nil; <-tick {
			_, _ = t.db.ExecContext(ctx, `INSERT OR REPLACE INTO worker VALUES (?, ?)`, machine, time.Now().UnixNano())
		}
	})
	for range slots {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := t.next(ctx, machine, h); err != nil {
					time.Sleep(every)
				}
			}
		})
	}
	all.Wait()
}

// next runs the oldest attempt that waits for the machine. Without one it returns sql.ErrNoRows.
func (t *Table) next(ctx context.Context, machine string, h Handler) error {
	var batch, id, input string
	now := time.Now().UnixNano()
	err := t.db.QueryRowContext(ctx, `UPDATE attempt SET state = ?, begun = ?, beat = ? WHERE rowid = (
			SELECT rowid FROM attempt WHERE state = ? AND machine = ? ORDER BY rowid LIMIT 1
		) RETURNING batch, id, (SELECT input FROM task WHERE task.batch = attempt.batch AND task.task = attempt.task)`,
		engine.Running, now, now, engine.Queued, machine).Scan(&batch, &id, &input)
	if err != nil {
		return err
	}
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	share := 0.
	go func() { // reports, and ends the attempt if the coordinator wants it
		for tick := time.Tick(every); own.Err() == nil; <-tick {
			var stop bool
			mu.Lock()
			at := share
			mu.Unlock()
			if t.db.QueryRowContext(own, `UPDATE attempt SET beat = ?, share = ? WHERE batch = ? AND id = ? RETURNING stop`,
				time.Now().UnixNano(), at, batch, id).Scan(&stop); stop {
				cancel()
			}
		}
	}()
	output, err := h(own, input, func(s float64) {
		mu.Lock()
		defer mu.Unlock()
		share = s
	})
	state := engine.Succeeded
	switch {
	case ctx.Err() != nil:
		return ctx.Err() // the process ends: the attempt falls silent
	case own.Err() != nil:
		state = engine.Cancelled
	case err != nil:
		state = engine.Failed
	}
	_, err = t.db.ExecContext(ctx, `UPDATE attempt SET state = ?, ended = ?, output = ? WHERE batch = ? AND id = ?`,
		state, time.Now().UnixNano(), output, batch, id)
	return err
}

// Run coordinates a batch on the machines until each task has its result, and returns the results in the order of the
// tasks. After a crash call it again, in any process: it goes on from the table. One process may do so at a time.
func (t *Table) Run(ctx context.Context, batch string, c engine.Config, machines []engine.Machine) (outputs []string, err error) {
	if err = t.db.QueryRowContext(ctx, `SELECT count(*) FROM task WHERE batch = ?`, batch).Scan(&c.Tasks); err != nil {
		return nil, err
	}
	if c.Machines, err = engine.NewMachines(engine.MachinesConfig{Machines: machines}); err != nil {
		return nil, err
	}
	phase, err := engine.New(c)
	for err == nil && !phase.Done() {
		var list []engine.Attempt
		if list, err = t.list(ctx, batch); err != nil {
			return nil, err
		}
		for _, a := range phase.Poll(time.Now(), list).Actions {
			if err := t.carryOut(ctx, batch, a); err != nil {
				return nil, err
			}
			phase.Published(a.ID) // this changes nothing if the action was not to publish
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(c.Interval):
		}
	}
	if err != nil {
		return nil, err
	}
	rows, err := t.db.QueryContext(ctx, `SELECT output FROM task WHERE batch = ? ORDER BY task`, batch)
	for err == nil && rows.Next() {
		var output string
		err = rows.Scan(&output)
		outputs = append(outputs, output)
	}
	return outputs, errors.Join(err, rows.Err())
}

// list returns the attempts of a batch as the phase wants them.
func (t *Table) list(ctx context.Context, batch string) (list []engine.Attempt, err error) {
	rows, err := t.db.QueryContext(ctx, `SELECT id, a.task, machine, state, begun, ended, a.beat, share, coalesce(winner = id, FALSE),
			coalesce(w.beat, 0) FROM attempt a JOIN task USING (batch, task) LEFT JOIN worker w USING (machine) WHERE batch = ? ORDER BY a.rowid`, batch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a engine.Attempt
		var begun, ended, beat, lives int64
		if err := rows.Scan(&a.ID, &a.Task, &a.Machine, &a.State, &begun, &ended, &beat, &a.Progress.Score, &a.Published, &lives); err != nil {
			return nil, err
		}
		if a.State != engine.Queued {
			a.Begun, a.AsOf = time.Unix(0, begun), time.Unix(0, beat)
		}
		switch {
		case a.State <= engine.Running && time.Since(time.Unix(0, lives)) > silent:
			a.State = engine.Lost
		case ended > 0:
			a.Ended = time.Unix(0, ended)
		}
		list = append(list, a)
	}
	return list, rows.Err()
}

// carryOut carries out an action. An action that was carried out before changes nothing.
func (t *Table) carryOut(ctx context.Context, batch string, a engine.Action) (err error) {
	switch a.Op {
	case engine.Submit:
		_, err = t.db.ExecContext(ctx, `INSERT OR IGNORE INTO attempt (batch, id, task, machine) VALUES (?, ?, ?, ?)`,
			batch, a.ID, a.Task, a.Machine)
	case engine.Cancel: // an attempt that waits never begins
		_, err = t.db.ExecContext(ctx, `UPDATE attempt SET stop = 1, state = CASE state WHEN ? THEN ? ELSE state END
			WHERE batch = ? AND id = ?`, engine.Queued, engine.Cancelled, batch, a.ID)
	case engine.Publish:
		_, err = t.db.ExecContext(ctx, `UPDATE task SET winner = a.id, output = a.output FROM attempt a
			WHERE task.batch = ?1 AND task.task = ?2 AND task.winner IS NULL AND a.batch = ?1 AND a.id = ?3`, batch, a.Task, a.ID)
	}
	return err
}
