insert into advisory_sources (name, state, cursor, started_at, finished_at) values ('kev', 'idle', '{"at":1}', 1, 2);
insert into exploit_scores (cve, epss, percentile) values ('CVE-2024-0001', 0.5, 0.25);
