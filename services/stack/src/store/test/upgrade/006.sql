insert into feeds (id, url, status, next_poll_at, added_at) values (2, 'https://a.com/feed', 'active', 0, 1);
