package main

// Mantri [OSDI 2010].

func mantriRows() []row {
	return []row{
		{
			id: "M1", name: "restart or duplicate", where: "Fig. 9", tier: exact, seeds: 1,
			claim: "7 tasks on 2 slots, one outlier of 5t: baseline 7t, a duplicate costs 3t, a restart is " +
				"strictly better",
			measures: []measure{
				is("worst restart less duplicate, t", "<= 0", 0, 0), is("cost of a duplicate, t", "3", 3, 0),
				is("of a restart, t", "2", 2, 0), is("share of cases in which a restart beats 7t", "all", 1, 0),
			},
			run: figure9,
		},
		{
			id: "M2", name: "bounds of Pseudocode 1", where: "§5.1", tier: exact, seeds: 1,
			claim: "one copy is duplicated only if t_new < t_rem/2; at most γ = 3 restarts; never more than 3 copies",
			measures: []measure{
				is("duplicates at t_new >= t_rem/2", "0", 0, 0), is("most restarts", "3", 3, 0),
				is("most copies", "3", 3, 0),
			},
			run: pseudocode1,
		},
		{
			id: "M3", name: "largest first, bound", where: "§5.4", tier: exact, seeds: 1,
			claim:    "longest first is within 4/3 - 1/(3s) of the optimum",
			measures: []measure{is("cases beyond the bound, of 300", "0", 0, 0)}, run: grahamsOrder,
		},
		{
			id: "M4", name: "any order, bound", where: "§3.1", tier: exact, seeds: 1, claim: "a phase takes at most sum(t)/s + max(t)",
			measures: []measure{is("cases beyond the bound, of 300", "0", 0, 0)}, run: grahamsBound,
		},
		{
			id: "M5", name: "Mantri: phases sooner", where: "Fig. 14", tier: experiment, quick: true,
			claim: "by Mantri's restarts and order phases end 21 % and 42 % sooner at p50 and p75, with 3 % and 7 % less resource",
			measures: []measure{
				gain("sooner at p50", "21 %", 0.21), gain("sooner at p75", "42 %", 0.42),
				gain("resource saved at p50", "3 %", 0.03), gain("at p75", "7 %", 0.07),
				besides("restarts without the order by size, sooner at p50"), besides("at p75"),
				besides("the order by size without restarts, sooner at p50"), besides("at p75"),
			},
			run: func(seed uint64) []float64 {
				s := phasesOf(seed)
				m := &s.policies[mantri]
				return []float64{
					m.sooner(0.5), m.sooner(0.75), m.saved(0.5), m.saved(0.75), s.restarts.sooner(0.5), s.restarts.sooner(0.75),
					s.order.sooner(0.5), s.order.sooner(0.75),
				}
			},
		},
		{
			id: "M6", name: "other policies: phases sooner", where: "Fig. 14", tier: experiment,
			claim: "Hadoop is next best at 6.9 % with 15.9 % more resource; Map-Reduce and Dryad gain nothing in " +
				"80 % and 50 % of phases, and up to p30 Dryad loses; LATE gains about what Hadoop does, with less",
			measures: []measure{
				gain("Hadoop sooner at p50", "6.9 %", 0.069), gain("its extra resource", "15.9 %", 0.159),
				share("phases that Map-Reduce does not help", "80 %", 0.8), share("Dryad", "50 %", 0.5),
				below("Dryad sooner at p30", "< 0", 0), share("LATE less Hadoop, at p50", "0", 0),
				above("LATE's resource below Hadoop's", "> 0", 0), besides("Hadoop sooner at p75"),
			},
			run: func(seed uint64) []float64 {
				p := phasesOf(seed).policies
				return []float64{
					p[hadoop].sooner(0.5), -p[hadoop].meanSaved(), p[mapReduce].notHelped(), p[dryad].notHelped(),
					p[dryad].sooner(0.3), p[late].sooner(0.5) - p[hadoop].sooner(0.5),
					p[late].meanSaved() - p[hadoop].meanSaved(), p[hadoop].sooner(0.75),
				}
			},
		},
		{
			id: "M7", name: "copies that succeed", where: "§6.3", tier: experiment, quick: true,
			claim: "of Mantri's copies 70 % end their task sooner, of LATE's 15 %, of the others' fewer",
			measures: []measure{
				share("Mantri's copies that succeed", "70 %", 0.70), share("LATE's", "15 %", 0.15),
				below("Hadoop's less LATE's", "< 0", 0), below("Dryad's less LATE's", "< 0", 0),
				times("copies a task, Mantri", ".2", 0.2), times("Dryad", ".2", 0.2), times("LATE", ".06", 0.06),
				times("Hadoop", ".56", 0.56),
			},
			run: func(seed uint64) []float64 {
				p := phasesOf(seed).policies
				return []float64{
					p[mantri].success(), p[late].success(), p[hadoop].success() - p[late].success(),
					p[dryad].success() - p[late].success(), p[mantri].perTask(), p[dryad].perTask(), p[late].perTask(),
					p[hadoop].perTask(),
				}
			},
		},
		{
			id: "M8", name: "LATE that acts early", where: "Fig. 15", tier: experiment,
			claim: "LATE that acts early makes phases longer up to p40, is worse than LATE and uses more",
			measures: []measure{
				below("early less LATE, sooner at p30", "< 0", 0), below("early, sooner at p30", "< 0", 0),
				above("early's resource over LATE's", "> 0", 0),
			},
			run: func(seed uint64) []float64 {
				p := phasesOf(seed).policies
				return []float64{
					p[early].sooner(0.3) - p[late].sooner(0.3), p[early].sooner(0.3), p[late].meanSaved() - p[early].meanSaved(),
				}
			},
		},
		{
			id: "M9", name: "Mantri against even tasks", where: "Fig. 16", tier: experiment,
			claim: "Mantri is on par with NoSkew, in which every task takes the mean, and slightly worse than without the " +
				"slowest quartile, too",
			measures: []measure{
				share("Mantri less NoSkew, sooner at p50", "0", 0),
				{name: "NoSkew + ChopTail less Mantri", paper: "slightly > 0", lo: 0, hi: points},
				besides("NoSkew at p50"), besides("Mantri's restarts without the order less NoSkew"),
				besides("Mantri less NoSkew where data explain no outlier"),
			},
			run: func(seed uint64) []float64 {
				s := phasesOf(seed)
				m, even := s.policies[mantri].sooner(0.5), s.noSkew.sooner(0.5)
				return []float64{
					m - even, s.chopTail.sooner(0.5) - m, even, s.restarts.sooner(0.5) - even,
					s.pureMantri.sooner(0.5) - s.pureNoSkew.sooner(0.5),
				}
			},
		},
		{
			id: "M10", name: "placed reducers: transfer rates", where: "Fig. 4, 17-18", tier: experiment, quick: true,
			claim: "median over slowest task's transfer rate 1.05 with placement, never over 2, and 5.25 (p75 14.33) " +
				"without; phases end 59 % sooner",
			measures: []measure{
				times("median / slowest rate, placed", "1.05", 1.05), below("the largest", "2", 2),
				times("ad hoc", "5.25", 5.25), times("at p75", "14.33", 14.33), gain("phases are sooner by", "59 %", 0.59),
			},
			run: func(seed uint64) []float64 { s := shuffles(seed); return s.rates },
		},
		{
			id: "M11", name: "placed reducers: spread", where: "§6.2", tier: experiment, claim: "1.5 tasks a rack in use with placement, 5.5 without",
			measures: []measure{
				times("placed", "1.5", 1.5), times("ad hoc", "5.5", 5.5), times("placed over ad hoc", "0.27", 1.5/5.5),
			},
			run: func(seed uint64) []float64 { s := shuffles(seed); return s.spread },
		},
		{
			id: "M12", name: "lost outputs", where: "Fig. 19-21", tier: experiment,
			claim: "guarded jobs run as if nothing were lost, and end 20 % (40 %) sooner at p50 (p75); 78 % of the " +
				"recomputations go, 66 % of these by replicas and 33 % by what was computed ahead; of the replicas 84 % are used, " +
				"of what was computed ahead 76 %; 1 % more bytes cross the network",
			measures: []measure{
				flat("jobs' time over that without losses, guarded", "1"), besides("unguarded"),
				input("sooner than unguarded, p50", "20 %"), gain("p75", "40 %", 0.4),
				share("bytes copied / processed", "1 %", 0.01),
				share("recomputations that go", "78 %", 0.78),
				share("by a replica", "51 % (.78 x .66)", 0.51), share("by what was computed ahead", "26 % (.78 x .33)", 0.26),
				share("replicas that are used", "84 %", 0.84), share("runs ahead that are used", "76 %", 0.76),
				besides("time of runs ahead / all"),
			},
			run: lostOutputs,
		},
		{
			id: "M13", name: "jobs without outliers", where: "Fig. 7", tier: experiment,
			claim: "jobs would end 15 % sooner at the median without runtime outliers, 34 % without any",
			measures: []measure{
				gain("without runtime outliers", "15 %", 0.15), gain("without any", "34 %", 0.34),
			},
			run: withoutOutliers,
		},
		{
			id: "M14", name: "Mantri on Bing's cluster", where: "Fig. 12-13", tier: experiment,
			claim: "32 % live, 25 % on four jobs, t_rem to within 2.9 %",
		},
		{
			id: "M15", name: "Mantri acts early", where: "§6.2", tier: experiment, seeds: 3,
			claim: "half of Mantri's copies begin before the task has done 42 % of its work, half of the earlier build's before 77 %; " +
				"it makes .47 times the copies, of which 2.8 times as many succeed",
			measures: []measure{
				above("Mantri's copies that begin before 42 %", "over 50 %", 0.5),
				share("the earlier build's before 77 %", "50 %", 0.5),
				times("Mantri's copies / the earlier build's", ".47", 0.47), times("their success / its success", "2.8", 2.8),
			},
			run: func(seed uint64) []float64 {
				m, d := &phasesOf(seed).policies[mantri], &phasesOf(seed).policies[dryad]
				return []float64{m.before(0.42), d.before(0.77), m.perTask() / d.perTask(), m.success() / d.success()}
			},
		},
	}
}
