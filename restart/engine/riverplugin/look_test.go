package riverplugin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/riverplugin"
)

// Jobs run at clients of many kinds. A look shows which attempts are dead, which the coordinator decides about, which are listed, and
// which could have a copy.
func TestWhatALookShows(t *testing.T) {
	pool := database(t)
	n := start(t, pool, "first", setup{options: riverplugin.Options{Log: quiet}}, obeys)
	n.stop()
	exec := func(sql string, args ...any) {
		_, err := pool.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	runs := func(id int64, client, ago string) string {
		exec(`INSERT INTO river_job (id, args, kind, max_attempts, state, attempt, attempted_at, attempted_by)
			VALUES ($1, '{}', 'work', 2, 'running', 1, now() - $3::interval, ARRAY[$2])`, id, client, ago)
		run, err := n.plugin.RunOf(t.Context(), id)
		require.NoError(t, err)
		return run
	}
	runs(1, "stranger", "1 min")
	listed, watched := runs(2, "a", "1 min"), runs(3, "a", "1 min")
	runs(4, "a", "1 min")
	runs(5, "lost", "1 min")
	before := runs(6, "again", "10 s")
	runs(7, "again", "10 s")
	runs(8, "again", "1 s")
	runs(9, "other", "1 min")
	runs(10, "shadow", "1 min")
	exec(`INSERT INTO straggler_member (client, holder, guards) VALUES
		('a', '', '{*}'), ('lost', '', '{work}'), ('again', '', '{*}'), ('other', '', '{other}'), ('shadow', '', '{}'), ('gone', '', '{*}')`)
	exec(`UPDATE straggler_member SET since = now() - interval '3 s', before = jsonb_build_object($1::text, 0) WHERE client = 'again'`, before)
	exec(`INSERT INTO straggler_client (client, seen, slots, running, queues)
		SELECT client, now(), CASE client WHEN 'gone' THEN -1 ELSE 4 END, '{}', CASE client WHEN 'again' THEN '{}' ELSE '{default}'::text[] END
		FROM straggler_member WHERE client <> 'first'`)
	exec(`UPDATE straggler_client SET running = jsonb_build_object($1::text, jsonb_build_object('watched', false),
		$2::text, jsonb_build_object('watched', true)) WHERE client = 'a'`, listed, watched)
	look := func(shadow bool, lost ...string) map[int64]riverplugin.Sight {
		shown, err := n.plugin.Look(t.Context(), shadow, lost...)
		require.NoError(t, err)
		return shown
	}
	const again = "has another process now"
	assert.Equal(t, map[int64]riverplugin.Sight{
		1: {Dead: "lacks the plugin"}, 2: {Acts: true, Listed: true}, 3: {Listed: true}, 4: {Acts: true},
		5: {Acts: true, Others: true, Dead: "is lost"}, 6: {Acts: true, Others: true, Dead: again}, 7: {Acts: true, Others: true},
		8: {Acts: true, Others: true}, 9: {Others: true}, 10: {Others: true},
	}, look(false, "lost"))
	assert.Equal(t, riverplugin.Sight{Acts: true, Listed: true, Others: true}, look(false)[2], "the other client of the queue is not lost")
	shadow := look(true, "lost")
	assert.Equal(t, riverplugin.Sight{Acts: true, Others: true}, shadow[9])
	assert.Equal(t, riverplugin.Sight{Acts: true, Others: true}, shadow[10])
	assert.Equal(t, riverplugin.Sight{Listed: true, Others: true}, shadow[3], "it is only watched")
	exec(`UPDATE straggler_member SET since = now() - interval '9 s' WHERE client = 'again'`)
	assert.Empty(t, look(false)[7].Dead, "this process may have fetched it before its first beat")
	exec(`UPDATE river_job SET attempted_at = attempted_at - interval '10 s' WHERE id = 7`)
	exec(`UPDATE straggler_member SET since = now() - interval '11 s' WHERE client = 'again'`)
	assert.Equal(t, again, look(false)[7].Dead)
	assert.Equal(t, "", look(false)[2].Dead)
	exec(`UPDATE straggler_member SET since = 'epoch' WHERE client = 'again'`)
	assert.Empty(t, look(false)[6].Dead, "no other process had the name")
}

// The clients can be read, and the jobs can't: nothing was seen, so the coordinator is blind.
func TestALookThatFailed(t *testing.T) {
	pool := database(t)
	n := start(t, pool, "a", setup{options: riverplugin.Options{Log: quiet}}, obeys)
	n.stop()
	looked, err := n.plugin.Looked(t.Context())
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), looked, 5*time.Second)
	_, err = pool.Exec(t.Context(), "ALTER TABLE straggler_end RENAME TO away")
	require.NoError(t, err)
	looked, err = n.plugin.Looked(t.Context())
	assert.Error(t, err)
	assert.Zero(t, looked)
}
