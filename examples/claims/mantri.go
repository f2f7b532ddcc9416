package main

// Mantri [OSDI 2010].

const generatorNote = "Phases are drawn from the figures of §3 and §4: tasks a slot, log-normal, with the median " +
	"2.11 and the standard deviation 12.37; more than 15 % of outliers " +
	"in a quarter of the phases; 80 % of them uniform from 1.5 to 2.5 times the median, 10 % over 10 times (at " +
	"most 12); in 40 % " +
	"of the phases data explain all outliers, in 18 % none. Leave the data out, and every policy looks three times " +
	"too good. Copies start without delay; with one second, fewer of Mantri's copies win."

func mantriRows() []row {
	return []row{
		{
			id: "M1", where: "Fig. 9", tier: exact, seeds: 1,
			claim: "7 tasks on 2 slots, one outlier of 5t: baseline 7t, a duplicate costs 3t, a restart is " +
				"strictly better",
			measures: []measure{
				is("worst restart less duplicate, t", "<= 0", 0, 0), is("cost of the outlier, t", "5", 5, 0),
				is("of a duplicate, t", "3", 3, 0), is("of a restart, t", "2", 2, 0),
				is("share of cases in which a restart beats 7t", "all", 1, 0),
			},
			run:  figure9,
			note: "Every order and mix of t and 2t in which the baseline takes 7t.",
		},
		{
			id: "M2", where: "§5.1", tier: exact, seeds: 1,
			claim: "one copy is duplicated only if t_new < t_rem/2; at most γ = 3 restarts; never more than 3 copies",
			measures: []measure{
				is("duplicates at t_new >= t_rem/2", "0", 0, 0), is("most restarts", "3", 3, 0),
				is("most copies", "3", 3, 0),
			},
			run: pseudocode1,
		},
		{
			id: "M3", where: "§5.4", tier: exact, seeds: 1,
			claim:    "longest first is within 4/3 - 1/(3s) of the optimum",
			measures: []measure{is("cases beyond the bound, of 300", "0", 0, 0)}, run: grahamsOrder,
		},
		{
			id: "M4", where: "§3.1", tier: exact, seeds: 1, claim: "a phase takes at most sum(t)/s + max(t)",
			measures: []measure{is("cases beyond the bound, of 300", "0", 0, 0)}, run: grahamsBound,
		},
		{
			id: "M5", where: "Fig. 14", tier: inBand, quick: true,
			claim: "phases end 21 % and 42 % sooner at p50 and p75, with 3 % and 7 % less resource",
			measures: []measure{
				within("sooner at p50", "21 %", 0.15, 0.30), within("sooner at p75", "42 %", 0.33, 0.50),
				atLeast("resource saved at p50", "3 %", -0.005),
			},
			run: func(seed uint64) []float64 {
				m := phasesOf(seed).policies[mantri]
				return []float64{m.sooner(0.5), m.sooner(0.75), m.saved(0.5)}
			},
			note: generatorNote,
		},
		{
			id: "M6", where: "Fig. 14", tier: direction,
			claim: "Hadoop is next best at 6.9 % with 15.9 % more resource; Map-Reduce and Dryad gain nothing in " +
				"80 % and 50 % of phases",
			measures: []measure{
				atLeast("Mantri less twice Hadoop, at p50", "> 0", 0),
				atLeast("resource: Mantri saves more than Hadoop by", "> 0", 0),
				stated("Hadoop sooner at p50", "6.9 %"), stated("Map-Reduce", "0"), stated("Dryad", "0"),
				stated("Hadoop sooner at p75", "25 %"),
			},
			run: func(seed uint64) []float64 {
				p := phasesOf(seed).policies
				return []float64{
					p[mantri].sooner(0.5) - 2*p[hadoop].sooner(0.5), p[mantri].meanSaved() - p[hadoop].meanSaved(),
					p[hadoop].sooner(0.5), p[mapReduce].sooner(0.5), p[dryad].sooner(0.5), p[hadoop].sooner(0.75),
				}
			},
		},
		{
			id: "M7", where: "§6.3", tier: inBand, quick: true,
			claim: "of Mantri's copies 70 % end their task sooner, of LATE's 15 %",
			measures: []measure{
				atLeast("Mantri's copies that succeed", "70 %", 0.60), atMost("LATE's", "15 %", 0.30),
				stated("copies a task, Mantri", ".2"), stated("LATE", ".06"), stated("Hadoop", ".56"),
			},
			run: func(seed uint64) []float64 {
				p := phasesOf(seed).policies
				return []float64{
					p[mantri].success(), p[late].success(), p[mantri].perTask(), p[late].perTask(), p[hadoop].perTask(),
				}
			},
		},
		{
			id: "M8", where: "Fig. 15", tier: direction,
			claim: "LATE that acts early is worse than LATE up to p40 and uses more",
			measures: []measure{
				atMost("early less LATE, sooner at p30", "<= 0", 0.001),
				atLeast("early's resource over LATE's", "> 0", 0),
			},
			run: func(seed uint64) []float64 {
				p := phasesOf(seed).policies
				return []float64{p[early].sooner(0.3) - p[late].sooner(0.3), p[late].meanSaved() - p[early].meanSaved()}
			},
		},
		{
			id: "M9", where: "Fig. 16", tier: inBand,
			claim: "Mantri is on par with NoSkew, in which every task takes the mean",
			measures: []measure{
				within("Mantri less NoSkew, sooner at p50", "0", -0.10, 0.10), stated("NoSkew at p50", ""),
				stated("NoSkew + ChopTail at p50", "slightly better"),
				stated("Mantri less NoSkew where data explain no outlier", ""),
			},
			run: func(seed uint64) []float64 {
				p := phasesOf(seed)
				return []float64{
					p.policies[mantri].sooner(0.5) - p.noSkew.sooner(0.5), p.noSkew.sooner(0.5), p.chopTail.sooner(0.5),
					p.pureMantri.sooner(0.5) - p.pureNoSkew.sooner(0.5),
				}
			},
			note: "NoSkew also takes away the tasks that are long because of their data, which no restart can. How " +
				"far that carries it hangs on how many tasks a slot has: with a log-normal of σ = 1 for that, of " +
				"which the standard deviation would be 4.6 where the paper's is 12.37, Mantri is 28 points behind. " +
				"Where data explain no outlier, Mantri is ahead (last line).",
		},
		{
			id: "M10", where: "Fig. 4, 17-18", tier: inBand, quick: true,
			claim: "median over slowest task's transfer rate 1.05 with placement, 5.25 with Dryad's",
			measures: []measure{
				atMost("slowest / median read, placed", "1.05", 1.5), stated("ad hoc", "5.25"),
				atLeast("phases are sooner by", "59 %", 0),
			},
			run: func(seed uint64) []float64 { v := shuffles(seed); return v[:3] },
		},
		{
			id: "M11", where: "Table 2", tier: direction, claim: "1.5 tasks a rack in use with placement, 5.5 without",
			measures: []measure{
				atMost("placed over ad hoc", "0.27", 1), stated("placed", "1.5"), stated("ad hoc", "5.5"),
			},
			run: func(seed uint64) []float64 { v := shuffles(seed); return []float64{v[3] / v[4], v[3], v[4]} },
		},
		{
			id: "M12", where: "Fig. 19-21", tier: inBand,
			claim: "with replicas jobs run as if nothing were lost; replication costs at most 10 % of the bytes",
			measures: []measure{
				within("jobs' time over that without losses, guarded", "1", 0.95, 1.05),
				stated("unguarded", "1.2 to 1.4"),
				atMost("bytes copied / processed", "10 %", 0.10), stated("losses that a replica covers", "78 %"),
			},
			run: lostOutputs,
			note: "A job reads 160 GB and 7.6 GB of intermediate output: Table 1 has 181.7 PB of data and 8.3 PB of " +
				"network traffic. So a tenth of the bytes processed is more than all that could be copied, and what " +
				"limits copies is their cost against what a loss would cost. To copy goes at 1 Gbps, as on the " +
				"clusters of Dolly and FAIR; at 50 MB/s a copy of an ordinary machine's output costs more than its " +
				"loss, and jobs take 1.10. Half of the losses lie on 5 % of the machines, whose record is known from a " +
				"week before; a machine loses all it has at once, and so often that jobs without a guard lose about " +
				"what the paper's do at the median.",
		},
		{
			id: "M13", where: "Fig. 7", tier: inBand,
			claim: "jobs would end 15 % sooner at the median without runtime outliers, 34 % without any",
			measures: []measure{
				within("without runtime outliers", "15 %", 0.10, 0.25), within("without any", "34 %", 0.25, 0.45),
			},
			run: withoutOutliers,
			note: "Jobs are weighted by their cluster time, as the paper's are. The first line takes away what data " +
				"do not explain, the second all that is not even: each task takes its phase's mean, as in NoSkew. " +
				"With a log-normal of σ = 1 for tasks a slot, instead of the 1.36 that the paper's standard " +
				"deviation makes, the second is 0.46. The paper's second figure is also without recomputations; " +
				"they meet 1 % of the phases, and are left out here.",
		},
		{
			id: "M14", where: "Fig. 12-13", tier: direction,
			claim: "32 % live, 25 % on four jobs, t_rem to within 2.9 %",
			note:  "Bing's production cluster, its jobs and its logs are not public.",
		},
	}
}
