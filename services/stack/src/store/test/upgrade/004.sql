insert into answer_receipts (seq, id, key_id, body) values (3, 'rwr_1', 'key_0000000000000001', '{}');
insert into token_usage (key_id, day, model, requests, prompt_tokens, cached_tokens, completion_tokens) values ('key_0000000000000001', '2026-01-01', 'm', 1, 2, 0, 3);
