update domains set revision = 3, tracked_ms = 172800000, changes_seen = 1 where id = 1;
insert into scan_leases (domain_id, holder, until) values (3, 'scanner-1', 1767225600001);
