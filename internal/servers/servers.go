// Package servers starts the servers that tests and demonstrations use: Postgres and Redis. Each has a directory of its own
// and listens on the loopback address or on a socket, and each is gone afterwards.
package servers

import (
	"errors"
	"time"
)

// ErrMissing is the error if the machine does not have the server's program. A test is then skipped.
var ErrMissing = errors.New("the server is not installed")

// within is the longest time until a server answers.
const within = 30 * time.Second
