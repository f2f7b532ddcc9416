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

// variable is the name of the environment variable that makes this program a host.
const variable = "STRAGGLER_DEMO_HOST"

// Host is the description of a host, which its process reads at its start.
type Host struct {
	// Name is the identity of the worker, and the name of the host's own task queue.
	Name string
	// Slots is the number of activities that the host runs at once.
	Slots int
	// Rate is the number of bytes that each slot reads per second.
	Rate float64
	// Silent makes the tasks send heartbeats without progress.
	Silent bool
	// Log is the file to which the host writes its attempts.
	Log string
	// Address is the address of the server.
	Address string
}

// RunHost runs a host if this process was started as a host, and then never returns. Call it first in main and in
// TestMain. The function serve returns the worker of the host, which polls the task queue with the name of the host.
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
	// The parent never writes, so this read ends when the parent ends for any reason.
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// Process is the process of a host.
type Process struct {
	Host
	Killed  time.Time // when it was killed last; zero if never
	command *exec.Cmd
	stdin   io.Closer
}

// start starts this program again, as the host.
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
	// In its own process group, the process gets no signals from the terminal. If the parent dies while the process is
	// stopped, the kernel wakes the process with SIGHUP.
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

// Kill kills the process, as a power failure would.
func (p *Process) Kill() error {
	err := p.command.Process.Kill()
	p.Killed = time.Now()
	_ = p.command.Wait() // returns the error that the process was killed
	_ = p.stdin.Close()
	return err
}

// Pause stops the process without ending it. Its connections stay open, but it sends nothing.
func (p *Process) Pause() error { return p.command.Process.Signal(syscall.SIGSTOP) }

// Resume continues a paused process.
func (p *Process) Resume() error { return p.command.Process.Signal(syscall.SIGCONT) }

func dial(address, identity string) (client.Client, error) {
	return client.Dial(client.Options{
		HostPort: address, Namespace: Namespace, Identity: identity, Logger: quiet(),
		ConnectionOptions: client.ConnectionOptions{GetSystemInfoTimeout: time.Minute}, // a small machine may need this time
	})
}
