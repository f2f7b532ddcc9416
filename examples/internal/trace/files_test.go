package trace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// folder makes a directory of files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func ended(stage, id int) string {
	return fmt.Sprintf(`{"Event":"SparkListenerTaskEnd","Stage ID":%d,"Task End Reason":{"Reason":"Success"},`+
		`"Task Info":{"Task ID":%d,"Index":%d,"Launch Time":%d,"Finish Time":%d}}`+"\n", stage, id, id, 5+id, 90+id)
}

// Databricks begins a new file now and then; the current one has no date.
func TestDatabricksDirectory(t *testing.T) {
	start := `{"Event":"SparkListenerApplicationStart","App ID":"local-1"}` + "\n" + `{"Event":"SparkListenerJobStart","Job ID":0,"Stage IDs":[2]}` + "\n"
	dir := folder(t, map[string]string{
		"eventlog":                         ended(2, 3),
		"eventlog-2021-06-15--15-00.gz":    string(gzipped(t, []byte(start+ended(2, 0)+ended(2, 1)))),
		"eventlog-2021-06-15--16-00.gz":    string(gzipped(t, []byte(ended(2, 2)))),
		"init_scripts/x.sh":                "#!/bin/sh",
		".eventlog-2021-06-15--15-00.crc":  "crc",
		"driver/eventlog/not-one-of-these": ended(0, 0),
	})
	sources, leftOut, err := trace.Find(dir)
	require.NoError(t, err)
	assert.Empty(t, leftOut)
	require.Len(t, sources, 3)
	assert.Equal(t, dir, sources[0].Path)
	log, err := sources[0].Read()
	require.NoError(t, err)
	require.Len(t, log.Phases, 1)
	assert.Equal(t, "local-1 job 0", log.Phases[0].Job)
	assert.Len(t, log.Phases[0].Attempts, 4)
	assert.Zero(t, log.Faults.Total(), log.Faults)
}

func TestDeepDirectory(t *testing.T) {
	deep := ""
	for range 30 {
		deep += "d/"
	}
	sources, leftOut, err := trace.Find(folder(t, map[string]string{deep + "log": ended(0, 0), "d/log": ended(0, 0)}))
	require.NoError(t, err)
	assert.Len(t, sources, 1)
	require.Len(t, leftOut, 1)
	assert.Contains(t, leftOut[0], "too deep")
}

// If nothing of a rolled log can be read, that is an error.
func TestRolledLogOfBadFiles(t *testing.T) {
	_, err := trace.Open(folder(t, map[string]string{"events_1_x": "\x1f\x8b\x08", "events_2_x": "PK\x03\x04"}))
	require.ErrorContains(t, err, "events_1_x: a gzip file broken in its header")
}
