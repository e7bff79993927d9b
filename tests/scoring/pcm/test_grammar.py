"""What the official parser reads as one SELECT and what it does not, in cleaned text."""

from __future__ import annotations

import pytest

from pytest_sqlbench.scoring.pcm.queries import parse
from pytest_sqlbench.scoring.pcm.unreadable import Unreadable

READ = """
select a from t;
select user, rank, count, date, year, key, type, value, top from t
select left(a, 1), right(a, 1), if(a = 1, 2, 3) from t
select a end from t
select *, t.*, db..t.* from db..t
select a "x y", b as 'c' from t
select top 5 percent a from t
select distinct on (a) b from t
select first 5 a from t
select a from t with (nolock), u with (index(i), nolock)
select a from f(1) x y
select a from (t join u on t.a = u.b)
select a from (select b from t) x, lateral (select c from u) y
select a from t cross apply (select b from u) x outer apply f(1) y
select a from (values (1, 2), (3, 4)) x
select a from t pivot (sum(b) for c in (1, 2)) p
select a from t unpivot include nulls (b for c in (d, e))
select a from t natural join u left semi join v using (a, b)
select a from t where (a, b) in ((1, 2), (3, 4)) and (a) in (1) and a in f(1)
select a from t where a > all (select b from u) or a = any (select b from u)
select a from t where not not a = 1
select a from t where a is not null and b isnull and c is true and d not like e and f similar to g
select a from t where prior a = b
select a from t where a ! = b and a < > b and a > = b
select a from t where a collate x = b and a::int = 1 and a[1] = 2
select case a when 1 then b = 2 else c end, cast(a as decimal(10, 2)), cast(a, b) from t
select extract(year from a), trim(both b from c), substring(a from 1 for 2), {fn f(a)} from t
select cast(a as timestamp (3) with time zone), cast(a as character varying) from t
select sum(a) over (partition by b, c order by d desc rows between unbounded preceding and current row) from t
select sum(a) over (partition by (b, c)), sum(a) filter (where b = 1) over (), f(a) within group (order by b) from t
select max(a) keep (x first order by b), f(a).b, f(all b), f(a ignore nulls) from t
select group_concat(distinct a order by b) from t
select interval 5 day, interval - 5 day, a day, current_timestamp, current_date(), 0xff, 1., .5, 1e5 from t
select :a, :1, ?, ?1, @a, @@a.b, -a, +a, ~a, not a from t
select a || b, a ^ b, a | b & c, a << b, a div b, a % b from t
select a from t group by a, b having count(*) > 1 order by a asc nulls first, b > 1 desc
select a from t limit 5, 10 offset 3 rows
select a from t order by a offset 3 rows fetch next 5 rows only
select a into b from t
(select a from t) union all (select b from u) except select c from v order by 1 limit 3
(select a from t order by a) limit 5
((select a from t) union (select b from u)) intersect values (1, 2)
with a as (select b from t), recursive c (d) as (select e from f) select * from a
select a from t -- comment
select /* comment */ a from t
select #temp.a, $b from #temp
""".strip().split("\n")

NOT_READ = """
select
select a from
select a from t t t
select a, from t
select a = b from t
select sum(a > 1) from t
select a > 1 from t
select a from (t)
select a from t where
select a from t where a = 1 b = 2
select a from t where a + b =
select a from t where (a + b) / 2 in (1)
select a from t where a between 1
select a from t where a like b escape c
select a from t where a in ()
select a from t where a not = 1
select a from t where exists
select a from t group by grouping sets (a)
select top 5 with ties a from t
select top @n a from t
select format(a) from t
select a from t for xml path ('')
select a from t limit b
select case when a then b from t
select case a end from t
select cast(a as) from t
select a from t join
select a from t order by
select a from t union
select a from t; select b from u
insert into t values (1)
with a as (select b from t)
exec p
select 'a
select a from t where a = 9223372036854775808
select a from t limit 9223372036854775808
select a from t /* comment
select a from t where a = ¤
""".strip().split("\n")


@pytest.mark.parametrize("text", READ)
def test_query_is_read(text: str) -> None:
    assert parse(text.replace("'", '"')).bodies


@pytest.mark.parametrize("text", NOT_READ)
def test_query_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable):
        parse(text.replace("'", '"'))
