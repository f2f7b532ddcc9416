package servers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Redis is a Redis server.
type Redis struct {
	// Socket is the path of the socket on which the server listens.
	Socket  string
	options []string
	process *exec.Cmd
}

// StartRedis starts a Redis. Options are further options of redis-server, such as "--appendonly", "yes". Call Stop when it
// is no longer needed.
func StartRedis(options ...string) (*Redis, error) {
	dir, err := os.MkdirTemp("", "redis") // a test's own directory may have too long a name for a socket
	if err != nil {
		return nil, err
	}
	r := &Redis{Socket: filepath.Join(dir, "redis"), options: options}
	if err := r.Start(); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return r, nil
}

// Start starts a server that was killed again, with its data.
func (r *Redis) Start() error {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return fmt.Errorf("%w: apt-get install redis-server", ErrMissing)
	}
	dir := filepath.Dir(r.Socket)
	r.process = exec.Command(binary, append([]string{"--port", "0", "--unixsocket", r.Socket, "--save", "", "--dir", dir}, r.options...)...)
	if err := r.process.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("unix", r.Socket); err == nil {
			return c.Close()
		}
	}
	return fmt.Errorf("servers: Redis does not answer after %v", within)
}

// Kill stops the server as a crash does.
func (r *Redis) Kill() {
	_ = r.process.Process.Kill()
	_ = r.process.Wait()
}

// Stop stops the server, and deletes its data.
func (r *Redis) Stop() {
	r.Kill()
	_ = os.RemoveAll(filepath.Dir(r.Socket))
}
