package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/straggler-go/straggler/restart/engine/queue"
)

const queueName = "demo"

var quiet = slog.New(slog.DiscardHandler)

// work runs a worker: a client of River that takes jobs of the plain queue, and attempts of package riverqueue.
func work(ctx context.Context, url string, number int) error {
	pool, q, err := open(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	jobs := river.NewWorkers()
	river.AddWorker(jobs, &worker{pool: pool, last: number == workers-1})
	config := &river.Config{
		Workers: jobs, JobTimeout: -1, Logger: quiet, FetchPollInterval: slice, FetchCooldown: slice,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: slots}},
	}
	w := queue.Worker{Name: fmt.Sprint("worker-", number), Slots: slots, Log: quiet}
	if err := q.AddWorker(ctx, config, w); err != nil {
		return err
	}
	client, err := river.NewClient(riverpgxv5.New(pool), config)
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// worker runs the jobs of a scenario.
type worker struct {
	river.WorkerDefaults[job]
	pool *pgxpool.Pool
	last bool
}

func (w *worker) Work(ctx context.Context, rj *river.Job[job]) error {
	j, s, number := rj.Args, rj.Args.scenario(), rj.Attempt-1
	if j.Copy {
		number += 100
	}
	if a, ours := queue.AttemptOf(ctx); ours {
		number = a.Number
	}
	began := time.Now()
	if began.Sub(j.Began) < s.outage {
		time.Sleep(outageFails)
		return errors.New("outage")
	}
	hangs, fails := j.fate(number)
	takes := j.work()
	if s.slow > 0 && w.last {
		takes *= s.slow
	}
	end := time.Duration(takes * float64(time.Second))
	if fails {
		end /= 2
	}
	for reported := began; hangs || time.Since(began) < end; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Since(began) >= s.timeout() {
			return errors.New("timeout")
		}
		if s.reports && !hangs && time.Since(reported) >= reportEvery {
			reported = time.Now()
			queue.Progress(ctx, time.Since(began).Seconds()/takes)
		}
		pause := slice
		if !hangs {
			pause = min(pause, end-time.Since(began))
		}
		time.Sleep(pause)
	}
	if fails {
		return errors.New("failed half-way")
	}
	_, err := w.pool.Exec(ctx, `INSERT INTO demo_result (task, took) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
		j.Task, time.Since(began).Seconds())
	return err
}
