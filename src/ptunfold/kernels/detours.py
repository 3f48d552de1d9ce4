"""How many ways around an edge there are: paths between its ends with no edge in common."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import compiled

# Edges looked at for one way. In data of many dimensions all edges are about as long, and there is
# no end to ways that may be a little shorter.
_MANY_LOOKED_AT = 1 << 12


@compiled()
def _ways_by_one_stop(graph, tail, head, longest, most):
    """Count common neighbours of the ends over which the way is short enough, up to ``most``."""
    indptr, indices, lengths = graph
    here, there = indptr[tail], indptr[head]
    count = 0
    while here < indptr[tail + 1] and there < indptr[head + 1] and count < most:
        if indices[here] == indices[there]:
            count += lengths[here] + lengths[there] <= longest
            here += 1
            there += 1
        elif indices[here] < indices[there]:
            here += 1
        else:
            there += 1
    return count


@compiled()
def shares_in_common(graph, tails, heads, shares):
    """Fill ``shares`` (m,) with the share of neighbours that each tail has in common with its head.

    Of those of the one that has fewer.
    """
    indptr = graph.indptr
    for index in range(len(tails)):
        tail, head = tails[index], heads[index]
        n_common = _ways_by_one_stop(graph, tail, head, np.inf, len(graph.indices))
        fewer = min(indptr[tail + 1] - indptr[tail], indptr[head + 1] - indptr[head])
        shares[index] = n_common / fewer


@compiled()
def _two_shortest(lengths, found):
    """Find the two shortest of some lengths; without a second one it is infinite."""
    found[0], found[1] = np.inf, np.inf
    for length in lengths:
        if length < found[0]:
            found[0], found[1] = length, found[0]
        elif length < found[1]:
            found[1] = length


@compiled()
def count_detours(graph, tails, reverse, edges, longest, most, counts):
    """Fill ``counts`` (m,) with the number of ways around each of ``edges`` (m,).

    Ways are paths in the graph from one end to the other without the edge, at most
    ``longest[index]`` long, of which no two share an edge; at most ``most`` are counted. Common
    neighbours are enough for most edges. For the others the shortest way is taken out of the
    graph, and then the next one; a way that is short enough will do where the search takes long.
    """
    indptr, indices, lengths = graph
    n_points = len(indptr) - 1
    distance = np.full(n_points, np.inf)
    parent = np.empty(n_points, dtype=np.int64)
    closing = np.zeros(n_points, dtype=np.int64)  # from the head to its neighbours, or 0
    shortest = np.zeros((n_points, 2))  # of the edges of a node that was asked for
    queue = np.empty(n_points + 1, dtype=np.int64)
    is_queued = np.zeros(n_points, dtype=np.bool_)
    touched = np.empty(n_points, dtype=np.int64)
    is_taken = np.zeros(len(indices), dtype=np.bool_)
    taken = np.empty(64, dtype=np.int64)  # it grows
    for index in range(len(edges)):
        edge = edges[index]
        tail, head = np.int64(tails[edge]), np.int64(indices[edge])
        back = np.int64(reverse[edge])
        # Towards the end with more neighbours, any of which is nearly there.
        if indptr[tail + 1] - indptr[tail] > indptr[head + 1] - indptr[head]:
            tail, head, edge, back = head, tail, back, np.int64(edge)
        counts[index] = _ways_by_one_stop(graph, tail, head, longest[index], most)
        if counts[index] == most:
            continue
        n_ways, n_taken = 0, 0
        while n_ways < most:
            # From all but neighbours of the head, at least the two shortest last edges lead there.
            # What is too far to come before the best way known, and where a graph is no sheet that
            # is nearly all of it, is left alone.
            two = np.inf
            for there in range(indptr[head], indptr[head + 1]):
                if there == back or is_taken[there]:
                    continue
                node = np.int64(indices[there])
                closing[node] = there + 1
                if shortest[node, 1] == 0:
                    _two_shortest(lengths[indptr[node] : indptr[node + 1]], shortest[node])
                # One of them leads to the head.
                is_own = lengths[there] == shortest[node, 0]
                two = min(two, lengths[there] + shortest[node, 1 if is_own else 0])
            distance[tail] = 0.0
            touched[0], n_touched = tail, 1
            queue[0], first, n_queued, n_looked_at = tail, 0, 1, 0
            # Labels are corrected until nothing improves.
            while n_queued > 0:
                node = queue[first]
                first = (first + 1) % len(queue)
                n_queued -= 1
                is_queued[node] = False
                if distance[node] + two >= distance[head] and node != tail:
                    continue
                if n_looked_at > _MANY_LOOKED_AT and distance[head] < np.inf:
                    continue  # until the queue is empty
                n_looked_at += indptr[node + 1] - indptr[node]
                for way in range(indptr[node], indptr[node + 1]):
                    other = np.int64(indices[way])
                    reach = distance[node] + lengths[way]
                    if other == head or is_taken[way] or reach >= distance[other]:
                        continue
                    direct = np.inf
                    if closing[other]:
                        direct = reach + lengths[closing[other] - 1]
                    onward = reach + two
                    least = min(direct, onward)
                    if least > distance[head] or least > longest[index]:
                        continue
                    if distance[other] == np.inf:
                        touched[n_touched] = other
                        n_touched += 1
                    distance[other] = reach
                    parent[other] = way
                    if direct < distance[head] and direct <= longest[index]:
                        if distance[head] == np.inf:
                            touched[n_touched] = head
                            n_touched += 1
                        distance[head] = direct
                        parent[head] = reverse[closing[other] - 1]
                    if onward < distance[head] and not is_queued[other]:
                        is_queued[other] = True
                        queue[(first + n_queued) % len(queue)] = other
                        n_queued += 1
            is_found = distance[head] < np.inf
            for position in range(n_touched):
                distance[touched[position]] = np.inf
            for there in range(indptr[head], indptr[head + 1]):
                closing[indices[there]] = 0
            if not is_found:
                break
            n_ways += 1
            node = head
            while node != tail:
                way = parent[node]
                is_taken[way] = True
                is_taken[reverse[way]] = True
                if n_taken == len(taken):
                    more = np.empty(2 * n_taken, dtype=np.int64)
                    for position in range(n_taken):  # a slice compiles for three seconds
                        more[position] = taken[position]
                    taken = more
                taken[n_taken] = way
                n_taken += 1
                node = np.int64(tails[way])
        for position in range(n_taken):
            is_taken[taken[position]] = False
            is_taken[reverse[taken[position]]] = False
        counts[index] = n_ways


@compiled()
def ways_by_two(graph, along, tails, heads, ways):
    """Fill ``ways`` with the shortest way over one node in between, by edges ``along`` (E,) alone.

    It is infinite where there is none. The neighbours of a node are sorted.
    """
    indptr, indices, lengths = graph
    for pair in range(len(tails)):
        ways[pair] = np.inf
        one, other = indptr[tails[pair]], indptr[heads[pair]]
        while one < indptr[tails[pair] + 1] and other < indptr[heads[pair] + 1]:
            if indices[one] == indices[other]:
                if along[one] and along[other]:
                    ways[pair] = min(ways[pair], lengths[one] + lengths[other])
                one += 1
                other += 1
            elif indices[one] < indices[other]:
                one += 1
            else:
                other += 1
