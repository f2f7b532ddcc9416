package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/straggler-go/straggler/restart/engine/riverplugin"
)

var quiet = slog.New(slog.DiscardHandler)

// The schemas of River's tables. Each has its own clients.
const (
	plain   = "plain"   // River that lets a job run as long as it likes; the naive rule uses it as well
	timeout = "timeout" // River that ends a job after 8 s, and rescues it after 10 s
	plugin  = "plugin"  // River with the plugin
)

var schemas = []string{plain, timeout, plugin}

// work runs a worker: a client of River for each schema.
func work(ctx context.Context, url string, number int) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	for _, schema := range schemas {
		jobs := river.NewWorkers()
		river.AddWorker(jobs, &worker{pool: pool, last: number == workers-1})
		config := &river.Config{
			ID: fmt.Sprint("worker-", number), Schema: schema, Workers: jobs, JobTimeout: -1, Logger: quiet,
			FetchPollInterval: slice, FetchCooldown: slice,
			Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: slots}},
		}
		if schema == timeout {
			config.JobTimeout, config.RescueStuckJobsAfter = 8*time.Second, 10*time.Second
		}
		var p *riverplugin.Plugin
		if schema == plugin {
			p, err = riverplugin.New(pool, riverplugin.Options{
				Kinds: map[string]riverplugin.Kind{job{}.Kind(): {Copies: true, Work: told}}, Log: quiet,
			})
			if err != nil {
				return err
			}
			config.Plugins = append(config.Plugins, p)
		}
		client, err := river.NewClient(riverpgxv5.New(pool), config)
		if err != nil {
			return err
		}
		if err := client.Start(ctx); err != nil {
			return err
		}
		if p != nil {
			go p.Run(ctx, client)
		}
	}
	<-ctx.Done()
	return nil
}

// told returns the size of a job, if the scenario tells it.
func told(args []byte) float64 {
	var j job
	if json.Unmarshal(args, &j) != nil || !j.scenario().told {
		return 0
	}
	return j.work()
}

// firstCopy is the number of a task's first copy, for its fate.
const firstCopy = 100

// worker runs the jobs of a scenario.
type worker struct {
	river.WorkerDefaults[job]
	pool *pgxpool.Pool
	last bool
}

func (w *worker) Work(ctx context.Context, rj *river.Job[job]) error {
	j, s, number := rj.Args, rj.Args.scenario(), rj.Attempt-1
	if j.Copy {
		number += firstCopy
	} else if strings.Contains(string(rj.Metadata), "straggler") { // each copy has a fate of its own, as each try of a job has
		if err := w.pool.QueryRow(ctx, `INSERT INTO demo_copy VALUES ($1, 0)
			ON CONFLICT (task) DO UPDATE SET copies = demo_copy.copies + 1 RETURNING copies`, j.Task).Scan(&number); err != nil {
			return err
		}
		number += firstCopy
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
			riverplugin.Progress(ctx, time.Since(began).Seconds()/takes)
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
