package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page shows stragglers within ten seconds, also while nothing is carried out.
func TestThePageShowsStragglers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	address := make(chan string, 1)
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"-shadow", "-token", "x y"}, func(a string) { address <- a }) }()
	at := strings.Replace(<-address, "x y", "x%20y", 1)
	for page := ""; !strings.Contains(page, "the machine is ") || !strings.Contains(page, "Acting would have saved time"); {
		select {
		case err := <-ended:
			t.Fatal("the batch has ended without stragglers: ", err)
		case <-time.After(100 * time.Millisecond):
		}
		response, err := http.Get(at)
		require.NoError(t, err)
		data, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode)
		page = string(data)
	}
	cancel()
	require.NoError(t, <-ended)
}

func TestRubbish(t *testing.T) {
	for _, args := range [][]string{{"x"}, {"-address", "nowhere:x"}, {"-batches", "many"}} {
		assert.Error(t, run(t.Context(), args, func(string) {}), "%v", args)
	}
}
