package array

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// commandTimeout is how long a command may take. While slurmctld is away, sbatch itself retries for some minutes.
const commandTimeout = 5 * time.Minute

// Commands is the real Slurm, by its commands sbatch, squeue, scancel, scontrol and sinfo. Its methods may run at once.
type Commands struct {
	// Env is the environment of the commands. Nil means the environment of this process.
	Env []string
}

// Submit runs sbatch. The end of ctx does not interrupt sbatch, because then a job with an unknown number could be in the
// queue.
func (c Commands) Submit(ctx context.Context, options []string, script string, args []string) (string, error) {
	args = slices.Concat([]string{"--parsable"}, options, []string{script}, args)
	ctx = context.WithoutCancel(ctx)
	out, err := c.run(ctx, "sbatch", args...)
	if err != nil {
		return "", c.indices(ctx, err)
	}
	id, cluster, elsewhere := strings.Cut(strings.TrimSpace(out), ";") // "71" or "71;cluster"
	if elsewhere {                                                     // here the same number may be another job
		_, err := c.run(ctx, "scancel", "--quiet", "--clusters="+cluster, id)
		return "", errors.Join(fmt.Errorf("job %s went to cluster %s, want this host's: it is cancelled", id, cluster), err)
	}
	if _, err := strconv.Atoi(id); err != nil {
		return "", fmt.Errorf("sbatch printed %q, want the number of a job", out)
	}
	return id, nil
}

// refusedArray is sbatch's message if an index is out of range.
const refusedArray = "Invalid job array specification"

// maxArraySize finds the limit of indices in the output of scontrol.
var maxArraySize = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*([1-9][0-9]*)`)

// indices adds the cluster's limit of indices to an error of sbatch that is about indices.
func (c Commands) indices(ctx context.Context, err error) error {
	if !strings.Contains(err.Error(), refusedArray) {
		return err
	}
	out, askErr := c.run(ctx, "scontrol", "show", "config")
	found := maxArraySize.FindStringSubmatch(out)
	if askErr != nil || found == nil {
		return err
	}
	return fmt.Errorf("the indices of an array must be below %s on this cluster (MaxArraySize): "+
		"split the array into several runs whose scripts add an offset to the index, or have each task do more; %w", found[1], err)
}

// Paths and names may hold any printable character, so control characters separate squeue's fields and jobs.
const (
	fieldEnd = "\x1f" // between two fields
	jobEnd   = "\x1e" // after each job
)

// Find runs squeue, for waiting and running jobs only. A job that was refused is listed for a while, too, as failed.
func (c Commands) Find(ctx context.Context, dir string) (map[string]string, error) {
	out, err := c.run(ctx, "squeue", "--noheader", "--me", "--Format=ArrayJobID:"+fieldEnd+",Command:"+jobEnd)
	if err != nil {
		return nil, err
	}
	return parseScripts(out, dir), nil
}

// jobFields are the fields that parseJobs reads, by squeue's names for --Format.
var jobFields = []string{
	"JobArrayID", "State", "NodeList", "exit_code", "StartTime", "STDOUT", "STDERR", "WorkDir", "JobID", "Name",
}

// jobFormat is the value of squeue's option --Format.
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
		if strings.Contains(err.Error(), "Invalid job id specified") { // Slurm has forgotten all of the arrays
			return nil, nil
		}
		return nil, err
	}
	return parseJobs(out)
}

// maxIDs is how many IDs one command line has at most, far below the kernel's limit.
const maxIDs = 5000

// Cancel runs scancel, once for each 5,000 IDs.
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

// Nodes runs sinfo once.
func (c Commands) Nodes(ctx context.Context, partition string) ([]Node, error) {
	out, err := c.run(ctx, "sinfo", "--noheader", "--Node", "--partition="+partition, "--format=%N|%T|%C")
	if err != nil {
		return nil, err
	}
	return parseNodes(out)
}

// unusable matches the states of nodes that take no new jobs. The marks at the end of a state mean: * no answer, $
// maintenance, @ and ^ a reboot, ! and % power that is being switched off.
var unusable = regexp.MustCompile(`^(down|drain|fail|future|maint|unknown|inval|reboot|power(ing|ed)_down)|[*$@^!%]$`)

// unwanted matches the variables that change the output of the commands, and the variable that makes sbatch wait.
var unwanted = regexp.MustCompile(`^(SQUEUE_|SINFO_|SCANCEL_|SBATCH_WAIT=)`)

// run runs a command and returns its standard output. An error shows the command line and the standard error.
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
	command.WaitDelay = 10 * time.Second                      // a site's own sbatch may leave a process that holds the pipe
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not end sbatch halfway
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(ctx.Err(), err)
		}
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}
