package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// variable names the environment variable that makes this program a host.
const variable = "STRAGGLER_DEMO_HOST"

// Host is what a worker process is told of itself.
type Host struct {
	// Name is its identity, and the name of its own task queue.
	Name string
	// Slots is how many activities it runs at once.
	Slots int
	// Rate is how many bytes a second each slot reads.
	Rate float64
	// Silent says that its tasks tell that they live, and not how far they are.
	Silent bool
	// Log is the file to which it writes what it runs.
	Log string
	// Address is the server's.
	Address string
}

// RunHost makes this process a host if it was started as one, and then never returns. Call it first in main, and in
// TestMain. serve is told which host it is and returns its worker, which polls the task queue of the host's name.
func RunHost(serve func(client.Client, Host) (worker.Worker, error)) {
	spec, ok := os.LookupEnv(variable)
	if !ok {
		return
	}
	if err := runHost(spec, serve); err != nil {
		fmt.Fprintln(os.Stderr, "host:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runHost(spec string, serve func(client.Client, Host) (worker.Worker, error)) error {
	var h Host
	if err := json.Unmarshal([]byte(spec), &h); err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	c, err := dial(h.Address, h.Name)
	if err != nil {
		return err
	}
	defer c.Close()
	w, err := serve(c, h)
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	fmt.Println("ready")
	// The parent never writes: this ends when the parent does, however that ends.
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// Process is a host that was started.
type Process struct {
	Host
	Killed  time.Time // when it was killed last; zero if never
	command *exec.Cmd
	stdin   io.Closer
}

// start runs this program once more, as the host.
func (h Host) start() (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	command := exec.Command(self)
	command.Env = append(os.Environ(), variable+"="+string(spec))
	command.Stderr = os.Stderr
	// In a group of its own a signal from the terminal does not reach it, and if the parent dies while it is stopped, the
	// kernel wakes it with a hangup.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &Process{Host: h, command: command, stdin: stdin}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		return nil, errors.Join(fmt.Errorf("host %s did not start", h.Name), err, p.Kill())
	}
	return p, nil
}

// Restart starts the host again after a Kill.
func (p *Process) Restart() error {
	again, err := p.Host.start()
	if err != nil {
		return err
	}
	again.Killed = p.Killed
	*p = *again
	return nil
}

// Kill ends the process at once, as a power failure would.
func (p *Process) Kill() error {
	err := p.command.Process.Kill()
	p.Killed = time.Now()
	_ = p.command.Wait() // it says that it was killed
	_ = p.stdin.Close()
	return err
}

// Pause stops the process without ending it: it keeps its connections and falls silent.
func (p *Process) Pause() error { return p.command.Process.Signal(syscall.SIGSTOP) }

// Resume continues a paused process.
func (p *Process) Resume() error { return p.command.Process.Signal(syscall.SIGCONT) }

func dial(address, identity string) (client.Client, error) {
	return client.Dial(client.Options{
		HostPort: address, Namespace: Namespace, Identity: identity, Logger: quiet(),
		ConnectionOptions: client.ConnectionOptions{GetSystemInfoTimeout: time.Minute}, // a small machine takes its time
	})
}
