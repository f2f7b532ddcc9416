package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/straggler-go/straggler/internal/servers"
)

// stage is a Postgres with workers.
type stage struct {
	server  *servers.Postgres
	url     string
	pool    *pgxpool.Pool
	workers [workers]*exec.Cmd
}

// start returns a stage. The caller ends it, also after an error.
func start(ctx context.Context) (st *stage, err error) {
	st = &stage{}
	if st.server, err = servers.StartPostgres(); err != nil {
		return st, err
	}
	st.url = st.server.URL
	if st.pool, err = pgxpool.New(ctx, st.url); err != nil {
		return st, err
	}
	for _, schema := range schemas {
		if _, err := st.pool.Exec(ctx, "CREATE SCHEMA "+schema); err != nil {
			return st, err
		}
		migrator, err := rivermigrate.New(riverpgxv5.New(st.pool), &rivermigrate.Config{Logger: quiet, Schema: schema})
		if err != nil {
			return st, err
		}
		if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return st, err
		}
	}
	_, err = st.pool.Exec(ctx, `CREATE TABLE demo_result (task integer PRIMARY KEY, took double precision);
		CREATE TABLE demo_copy (task integer PRIMARY KEY, copies integer)`)
	for i := 0; i < workers && err == nil; i++ {
		err = st.work(i)
	}
	for there := 0; err == nil && there < workers; time.Sleep(naiveEvery) { // the first of them makes the table
		_ = st.pool.QueryRow(ctx, `SELECT count(*) FROM plugin.straggler_client`).Scan(&there)
		err = ctx.Err()
	}
	return st, err
}

// work starts a worker's process.
func (st *stage) work(i int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, "-worker", fmt.Sprint(i), "-url", st.url)
	c.Stderr = os.Stderr
	st.workers[i] = c
	return c.Start()
}

func (st *stage) end() {
	for _, c := range st.workers {
		if c == nil || c.Process == nil {
			continue
		}
		_ = c.Process.Signal(syscall.SIGCONT)
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	if st.pool != nil {
		st.pool.Close()
	}
	if st.server != nil {
		st.server.Stop()
	}
}

// trouble stops or kills the last worker, as the scenario says.
func (st *stage) trouble(ctx context.Context, s scenario) {
	began := time.Now()
	until := func(d time.Duration) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(d - time.Since(began)):
			return true
		}
	}
	last := workers - 1
	if s.stopped[1] > 0 && until(s.stopped[0]) {
		c := st.workers[last]
		_ = c.Process.Signal(syscall.SIGSTOP)
		until(s.stopped[1])
		_ = c.Process.Signal(syscall.SIGCONT)
	}
	if s.killed[1] > 0 && until(s.killed[0]) {
		_ = st.workers[last].Process.Kill()
		_ = st.workers[last].Wait()
		until(s.killed[1])
		if err := st.work(last); err != nil {
			fmt.Fprintln(os.Stderr, "river:", err)
		}
	}
}
