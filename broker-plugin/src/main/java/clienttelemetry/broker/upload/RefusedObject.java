package clienttelemetry.broker.upload;

import java.io.IOException;

/** The store is there and takes this object not: other objects may go all the same. */
final class RefusedObject extends IOException {
    private static final long serialVersionUID = 1L;

    RefusedObject(String message, Throwable cause) {
        super(message, cause);
    }
}
