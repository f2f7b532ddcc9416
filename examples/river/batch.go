package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

const (
	longest      = 90 * time.Second // a task without a result by then is lost
	naiveEvery   = 50 * time.Millisecond
	naiveEnded   = 5
	naiveTimes   = 2
	restartTakes = 500 * time.Millisecond
)

// run runs a batch under a rule. It returns the time until the last result, and the number of tasks without one.
func (st *stage) run(ctx context.Context, s scenario, rule string, seed uint64) (seconds float64, lost int, err error) {
	schema := rule
	if rule == "naive" {
		schema = plain
	}
	// Nothing of an earlier batch is known: neither run times nor slow workers.
	clear := "TRUNCATE demo_result, demo_copy, " + schema + ".river_job"
	if schema == plugin {
		clear += `, plugin.straggler_end; UPDATE plugin.straggler_lease SET known = NULL; ` + depose
	}
	if _, err := st.pool.Exec(ctx, clear, pgx.QueryExecModeSimpleProtocol); err != nil {
		return 0, 0, err
	}
	time.Sleep(time.Second)
	began := time.Now()
	batch, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	troubled := make(chan struct{})
	go func() { defer close(troubled); st.trouble(batch, s) }()
	err = st.river(batch, s, seed, rule, schema)
	seconds = time.Since(began).Seconds()
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	cancel()
	<-troubled
	results := 0
	if e := st.pool.QueryRow(ctx, `SELECT count(*) FROM demo_result`).Scan(&results); e != nil {
		return 0, 0, e
	}
	if err == nil {
		err = st.calm(ctx, schema)
	}
	return seconds, s.tasks - results, err
}

// calm cancels the jobs that are left, and waits until none runs.
func (st *stage) calm(ctx context.Context, schema string) error {
	client, err := river.NewClient(riverpgxv5.New(st.pool), &river.Config{Logger: quiet, Schema: schema})
	if err != nil {
		return err
	}
	for range 200 {
		rows, err := st.pool.Query(ctx, `SELECT id FROM `+schema+`.river_job WHERE finalized_at IS NULL`)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if _, err := client.JobCancel(ctx, id); err != nil && !errors.Is(err, river.ErrNotFound) {
				return err // a copy is gone as soon as its job has ended
			}
		}
		time.Sleep(naiveEvery)
	}
	return nil // jobs of a worker that was killed stay
}

func (s *scenario) jobs(seed uint64, began time.Time) (all []job) {
	for i := range s.tasks {
		all = append(all, job{Scenario: s.name, Seed: seed, Task: i, Began: began})
	}
	return all
}

// depose ends the term of the coordinator, as if its process were killed and began again.
const depose = `UPDATE plugin.straggler_lease SET holder = 'nobody', term = term + 1, until = now() + interval '500 ms'`

// river runs a batch on the clients of a schema.
func (st *stage) river(ctx context.Context, s scenario, seed uint64, rule, schema string) error {
	client, err := river.NewClient(riverpgxv5.New(st.pool), &river.Config{Logger: quiet, Schema: schema})
	if err != nil {
		return err
	}
	began := time.Now()
	var params []river.InsertManyParams
	for _, j := range s.jobs(seed, began) {
		params = append(params, river.InsertManyParams{Args: j})
	}
	if _, err := client.InsertMany(ctx, params); err != nil {
		return err
	}
	if rule == plugin {
		for _, at := range s.restarts {
			kill := time.AfterFunc(at, func() { _, _ = st.pool.Exec(ctx, depose) })
			defer kill.Stop()
		}
	}
	for copied := map[int]bool{}; ; time.Sleep(naiveEvery) {
		rows, err := st.pool.Query(ctx, `SELECT task, took FROM demo_result`)
		if err != nil {
			return err
		}
		done := map[int]bool{}
		var took []float64
		var task int
		var seconds float64
		if _, err := pgx.ForEachRow(rows, []any{&task, &seconds}, func() error {
			done[task], took = true, append(took, seconds)
			return nil
		}); err != nil {
			return err
		}
		if len(done) == s.tasks {
			return nil
		}
		down := slices.ContainsFunc(s.restarts, func(at time.Duration) bool {
			return time.Since(began) >= at && time.Since(began) < at+restartTakes
		})
		if rule == "naive" && !down {
			if err := st.naive(ctx, client, done, took, copied); err != nil {
				return err
			}
		}
	}
}

// naive copies each task once whose attempt runs for over twice the median, and cancels jobs of tasks with a result.
func (st *stage) naive(
	ctx context.Context, client *river.Client[pgx.Tx], done map[int]bool, took []float64, copied map[int]bool,
) error {
	rows, err := st.pool.Query(ctx, `SELECT id, args, state = 'running',
		coalesce(extract(epoch FROM now() - attempted_at), 0)::float8 FROM plain.river_job WHERE finalized_at IS NULL`)
	if err != nil {
		return err
	}
	type live struct {
		id      int64
		args    []byte
		running bool
		age     float64
	}
	all, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (l live, err error) {
		return l, r.Scan(&l.id, &l.args, &l.running, &l.age)
	})
	if err != nil {
		return err
	}
	slices.Sort(took)
	for _, l := range all {
		var j job
		if err := json.Unmarshal(l.args, &j); err != nil {
			return err
		}
		switch {
		case done[j.Task]:
			_, err = client.JobCancel(ctx, l.id)
		case l.running && !copied[j.Task] && len(took) >= naiveEnded && l.age > naiveTimes*took[len(took)/2]:
			copied[j.Task], j.Copy = true, true
			_, err = client.Insert(ctx, j, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
