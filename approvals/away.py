"""That the store does not answer, for those who may not know what it is."""

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

#: What every verb raises then. It is nobody's fault who just asked, so whoever catches broadly lets it pass.
STORE_AWAY = (RedisConnectionError, RedisTimeoutError)
