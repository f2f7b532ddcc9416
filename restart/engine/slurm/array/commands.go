package array

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// commandTimeout bounds every command. sbatch by itself retries for some minutes while slurmctld is away.
const commandTimeout = 5 * time.Minute

// Commands is Slurm by its commands: sbatch, squeue, scancel, scontrol, sinfo.
type Commands struct {
	// Env is the commands' environment; nil is this process's own.
	Env []string
}

// Submit runs sbatch. Nothing interrupts it: a job could be queued whose number nobody knows.
func (c Commands) Submit(ctx context.Context, options []string, script string, args []string) (string, error) {
	args = slices.Concat([]string{"--parsable"}, options, []string{script}, args)
	ctx = context.WithoutCancel(ctx)
	out, err := c.run(ctx, "sbatch", args...)
	if err != nil {
		return "", err
	}
	id, cluster, elsewhere := strings.Cut(strings.TrimSpace(out), ";") // "71" or "71;cluster"
	if elsewhere {                                                     // where the same number is another job here
		_, err := c.run(ctx, "scancel", "--quiet", "--clusters="+cluster, id)
		return "", errors.Join(fmt.Errorf("job %s went to cluster %s, want this host's: it is cancelled", id, cluster), err)
	}
	if _, err := strconv.Atoi(id); err != nil {
		return "", fmt.Errorf("sbatch printed %q, want the number of a job", out)
	}
	return id, nil
}

// What stands between squeue's fields and at the end of each job. Paths and names may hold any printable character.
const (
	fieldEnd = "\x1f"
	jobEnd   = "\x1e"
)

// Find runs squeue: only for what waits or runs, since what was refused is there too for a while, as failed.
func (c Commands) Find(ctx context.Context, dir string) (map[string]string, error) {
	out, err := c.run(ctx, "squeue", "--noheader", "--me", "--Format=ArrayJobID:"+fieldEnd+",Command:"+jobEnd)
	if err != nil {
		return nil, err
	}
	return parseScripts(out, dir), nil
}

// parseScripts reads the job ID and the command of each job, which is the path of its script and its arguments.
func parseScripts(out, dir string) map[string]string {
	found := map[string]string{}
	for line := range strings.SplitSeq(out, jobEnd) {
		id, command, _ := strings.Cut(strings.TrimSpace(line), fieldEnd)
		if rest, below := strings.CutPrefix(command, dir+string(filepath.Separator)); below {
			name, _, _ := strings.Cut(rest, string(filepath.Separator))
			found[name] = id
		}
	}
	return found
}

// jobFields are those that parseJobs reads, as squeue --Format calls them.
var jobFields = []string{
	"JobArrayID", "State", "NodeList", "exit_code", "StartTime", "STDOUT", "STDERR", "WorkDir", "JobID", "Name",
}

var jobFormat = strings.Join(jobFields, ":"+fieldEnd+",") + ":" + jobEnd

// Jobs runs squeue once.
func (c Commands) Jobs(ctx context.Context, arrays []string) ([]Job, error) {
	if len(arrays) == 0 {
		return nil, nil
	}
	// Not with --array, which in Slurm 22.05 leaves out the last of the waiting tasks of an array such as 2-32:2.
	out, err := c.run(ctx, "squeue", "--noheader", "--states=all", "--me", "--jobs="+strings.Join(arrays, ","),
		"--Format="+jobFormat)
	if err != nil {
		if strings.Contains(err.Error(), "Invalid job id specified") { // so it answers if all of them are forgotten
			return nil, nil
		}
		return nil, err
	}
	return parseJobs(out)
}

// parseJobs reads a line for each task, but that those which wait may have one in common.
func parseJobs(out string) ([]Job, error) {
	var jobs []Job
	for line := range strings.SplitAfterSeq(out, jobEnd+"\n") {
		if line == "" {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, jobEnd+"\n"), fieldEnd)
		if len(f) != len(jobFields) {
			return nil, fmt.Errorf("squeue printed %q, want the fields %v", line, jobFields)
		}
		status, err := strconv.Atoi(f[3])
		if err != nil {
			return nil, fmt.Errorf("squeue printed the exit code %q, want a number, in %q", f[3], line)
		}
		j := Job{ID: f[0], State: f[1], Node: f[2], Status: status, WorkDir: f[7], RawID: f[8], Name: f[9]}
		stdout, stderr := j.pattern(f[5]), j.pattern(f[6])
		j.Shared = shared(stdout) || shared(stderr)
		if seconds, err := strconv.ParseInt(f[4], 10, 64); err == nil { // N/A before it has a start
			j.Start = time.Unix(seconds, 0)
		}
		ids, err := taskIDs(f[0])
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			j.ID = id
			j.Stdout, j.Stderr = expand(stdout, j), expand(stderr, j)
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// taskIDs makes "71_3" and "71_4" of "71_[3-4%2]". Any other ID is left as it is.
func taskIDs(id string) ([]string, error) {
	array, list, found := strings.Cut(id, "_[")
	if !found {
		return []string{id}, nil
	}
	tasks, err := parseTasks(nil, strings.TrimSuffix(list, "]"))
	if err != nil {
		return nil, fmt.Errorf("squeue printed the job ID %.80q: %w", id, err)
	}
	ids := make([]string, len(tasks))
	for i, task := range tasks {
		ids[i] = array + "_" + strconv.Itoa(task)
	}
	return ids, nil
}

// maxIDs keeps command lines far below what the kernel takes.
const maxIDs = 5000

// Cancel runs scancel, once unless there are very many.
func (c Commands) Cancel(ctx context.Context, ids []string) error {
	var errs []error
	for some := range slices.Chunk(ids, maxIDs) {
		_, err := c.run(ctx, "scancel", append([]string{"--quiet"}, some...)...)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Describe runs scontrol show job.
func (c Commands) Describe(ctx context.Context, array string) (Facts, error) {
	out, err := c.run(ctx, "scontrol", "show", "job", "--oneliner", array)
	if err != nil {
		return Facts{}, err
	}
	return parseFacts(out)
}

var (
	partitionField = regexp.MustCompile(` Partition=(\S+)`)
	cpusField      = regexp.MustCompile(` NumCPUs=(\d+)`)
	excludeField   = regexp.MustCompile(` ExcNodeList=(\S+)`)
	throttleField  = regexp.MustCompile(` ArrayTaskThrottle=(\d+)`)
)

func parseFacts(out string) (Facts, error) {
	partition, cpus := partitionField.FindStringSubmatch(out), cpusField.FindStringSubmatch(out)
	if partition == nil || cpus == nil {
		return Facts{}, fmt.Errorf("scontrol printed %q, want the fields Partition and NumCPUs", out)
	}
	f := Facts{Partition: partition[1]}
	f.CPUs, _ = strconv.Atoi(cpus[1])
	f.CPUs = max(f.CPUs, 1)
	if exclude := excludeField.FindStringSubmatch(out); exclude != nil && exclude[1] != "(null)" {
		f.Exclude = exclude[1]
	}
	if throttle := throttleField.FindStringSubmatch(out); throttle != nil {
		f.Throttle, _ = strconv.Atoi(throttle[1])
	}
	return f, nil
}

// Nodes runs sinfo once.
func (c Commands) Nodes(ctx context.Context, partition string) ([]Node, error) {
	out, err := c.run(ctx, "sinfo", "--noheader", "--Node", "--partition="+partition, "--format=%N|%T|%C")
	if err != nil {
		return nil, err
	}
	return parseNodes(out)
}

// parseNodes reads lines such as "n0|mixed|2/14/0/16", where the numbers are allocated, idle, other and all CPUs. A node
// of several partitions comes several times.
func parseNodes(out string) (nodes []Node, err error) {
	seen := map[string]bool{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 {
			return nil, fmt.Errorf("sinfo printed %q, want node|state|CPUs", line)
		}
		n := Node{Name: f[0], Down: unusable.MatchString(f[1])}
		var allocated, other, all int
		if _, err := fmt.Sscanf(f[2], "%d/%d/%d/%d", &allocated, &n.Idle, &other, &all); err != nil {
			return nil, fmt.Errorf("sinfo printed the CPUs %q, want four numbers", f[2])
		}
		if !seen[n.Name] {
			seen[n.Name] = true
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// unusable are the states of nodes that take no new jobs. Of the marks, * stands for no answer, $ for maintenance, @ and ^
// for a reboot, ! and % for power that is being switched off.
var unusable = regexp.MustCompile(`^(down|drain|fail|future|maint|unknown|inval|reboot|power(ing|ed)_down)|[*$@^!%]$`)

// unwanted are variables by which users set what the commands show, and that would have sbatch wait.
var unwanted = regexp.MustCompile(`^(SQUEUE_|SINFO_|SCANCEL_|SBATCH_WAIT=)`)

// run runs a command and returns what it prints. The error shows the command and what it complained of.
func (c Commands) run(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	command.Env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return unwanted.MatchString(v) })
	if name == "squeue" {
		command.Env = append(command.Env, "SLURM_TIME_FORMAT=%s", "SLURM_BITSTR_LEN=0") // seconds since 1970, whole lists
	}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	command.WaitDelay = 10 * time.Second                      // a site's own sbatch may leave something running that holds the pipe
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C shall not end an sbatch halfway
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(ctx.Err(), err)
		}
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}
