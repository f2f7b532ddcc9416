package riverplugin_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/servers"
	"github.com/straggler-go/straggler/restart/engine/riverplugin"
)

// costs are what four clients cost the database.
type costs struct {
	idle  float64       // statements a second
	wal   float64       // bytes of write-ahead log for each of 40 jobs a second
	first time.Duration // from the commit of many jobs to the begin of the first
}

// The plugin with its default options costs the database little beside plain River: idle, under 40 jobs a second, and when
// 30,000 and 100,000 jobs come at once.
func TestCosts(t *testing.T) {
	long(t)
	plain, plugged := measure(t, true), measure(t, false)
	t.Logf("plain: %+v, with the plugin: %+v", plain, plugged)
	assert.LessOrEqual(t, plugged.idle, plain.idle+10)
	assert.LessOrEqual(t, plugged.wal, 1.3*plain.wal)
	assert.LessOrEqual(t, plugged.first, plain.first+time.Second)
}

func measure(t *testing.T, plain bool) (c costs) {
	s, err := servers.StartPostgres()
	if errors.Is(err, servers.ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	defer s.Stop()
	pool, err := pgxpool.New(t.Context(), s.URL)
	require.NoError(t, err)
	defer pool.Close()
	_, err = pool.Exec(t.Context(), "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'")
	require.NoError(t, err)
	pool.Reset()
	s.Crash()
	require.NoError(t, s.Start())
	_, err = pool.Exec(t.Context(), "CREATE EXTENSION pg_stat_statements")
	require.NoError(t, err)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet})
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	var nodes []*node
	for i := range 4 {
		nodes = append(nodes, start(t, pool, fmt.Sprint("client ", i), setup{
			plain: plain, slots: 10, options: riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {Copies: true}}, Log: quiet},
			change: func(c *river.Config) { c.FetchCooldown, c.FetchPollInterval = 0, 0 }, // River's defaults
		}, sleeps))
		defer nodes[i].stop()
	}
	read := func(sql string) (x float64) {
		require.NoError(t, pool.QueryRow(t.Context(), sql).Scan(&x))
		return x
	}
	const (
		calls = "SELECT sum(calls)::float8 FROM pg_stat_statements"
		wal   = "SELECT (pg_current_wal_lsn() - '0/0')::float8"
	)
	time.Sleep(3 * time.Second)
	before, begin := read(calls), time.Now()
	time.Sleep(20 * time.Second)
	c.idle = (read(calls) - before) / time.Since(begin).Seconds()

	_, err = pool.Exec(t.Context(), "CHECKPOINT")
	require.NoError(t, err)
	var ids []int64
	before = read(wal)
	for tick := time.Tick(time.Second / 40); len(ids) < 40*20; <-tick {
		ids = append(ids, insert(t, nodes[0], work{"sleeps", 300 * time.Millisecond}, nil))
	}
	for rows(t, pool, "river_job WHERE finalized_at IS NULL") > 0 {
		time.Sleep(50 * time.Millisecond)
	}
	c.wal = (read(wal) - before) / float64(len(ids))

	for _, jobs := range []int{30_000, 100_000} {
		var params []river.InsertManyParams
		for range jobs {
			params = append(params, river.InsertManyParams{Args: work{Name: fmt.Sprint("many ", jobs)}})
		}
		_, err = nodes[0].InsertManyFast(t.Context(), params)
		require.NoError(t, err)
		begin = time.Now()
		for rows(t, pool, fmt.Sprintf("river_job WHERE args->>'name' = 'many %d' AND attempt > 0", jobs)) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		c.first = max(c.first, time.Since(begin))
		_, err = pool.Exec(t.Context(), "DELETE FROM river_job WHERE state = 'available'")
		require.NoError(t, err)
		time.Sleep(time.Second)
	}
	return c
}
