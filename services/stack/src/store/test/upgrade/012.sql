insert into counters (name, value) values ('keys', 2), ('scheduler-term', 4);
