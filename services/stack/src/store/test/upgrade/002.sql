insert into stream_events (seq, published_us, type, domain, providers, category, body) values (4, 1767225600000001, 'migration', 'a.com', ',google-workspace,', 'email', '{"id":"ev_0000000004"}');
insert into anomalies (id, at, subject_kind, subject, metric, severity, facts) values ('an_1', 1767225600000, 'domain', 'a.com', 'services', 'low', '{"value":1}');
insert into alerts (id, at, kind, severity, subject, domain, provider, title, detail, ref) values ('al_1', 1767225600000, 'anomaly', 1, 'a.com', 'a.com', null, 'Title', 'Detail', 'an_1');
insert into settings (name, value) values ('stream-cursor', '2');
