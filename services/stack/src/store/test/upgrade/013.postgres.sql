insert into ledger_head (id, origin, size, root, edge, note) values (1, 'old.example/stack', 1, {{blob 47a46f3ecf11ae775bb48a28b316db7057ac1a77beabf66e05c4e4bc531d4267}}, {{blob 47a46f3ecf11ae775bb48a28b316db7057ac1a77beabf66e05c4e4bc531d4267}}, e'old.example/stack\n1\nR6RvPs8RrndbtIoosxbbcFesGne+q/ZuBcTkvFMdQmc=\n\n\u2014 old.example/stack AAAAAA==\n');
insert into ledger_leaves (leaf_index, hash, leaf) values (0, {{blob 47a46f3ecf11ae775bb48a28b316db7057ac1a77beabf66e05c4e4bc531d4267}}, {{blob 61206c656166206f66207468656e}});
insert into ledger_subtrees (level, subtree_index, hash) values (1, 0, {{blob abababababababababababababababababababababababababababababababab}});
insert into ledger_keys (kid, key) values ('old', 'receipt key of old.example/stack');
